// SPDX-License-Identifier: BSD-3-Clause
// Value trees as text for the subcommands: on one line for people, as JSON for programs.

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cli/grid.h"
#include "cli/text.h"

// A number after JSON's grammar.
static bool is_number(const char *text)
{
	const char *at = text;

	at += *at == '-';
	if (!isdigit((unsigned char)*at) || (*at == '0' && isdigit((unsigned char)at[1])))
		return false;
	while (isdigit((unsigned char)*at))
		at++;
	if (*at == '.') {
		if (!isdigit((unsigned char)*++at))
			return false;
		while (isdigit((unsigned char)*at))
			at++;
	}
	if (*at == 'e' || *at == 'E') {
		at++;
		at += *at == '-' || *at == '+';
		if (!isdigit((unsigned char)*at))
			return false;
		while (isdigit((unsigned char)*at))
			at++;
	}
	return !*at;
}

static bool is_plain(const struct value *value)
{
	return !value->quoted && (is_number(value->text) || !strcmp(value->text, "true") ||
				  !strcmp(value->text, "false"));
}

static void write_string(const char *text, FILE *out)
{
	json_t *string = json_string(text);

	json_dumpf(string, out, JSON_ENCODE_ANY);
	json_decref(string);
}

static void write_json(const struct value *value, unsigned depth, FILE *out)
{
	int indent = 2 * (int)depth;

	switch (value->kind) {
	case VALUE_NULL:
		fputs("null", out);
		break;
	case VALUE_SCALAR:
		if (is_plain(value))
			fputs(value->text, out);
		else
			write_string(value->text, out);
		break;
	case VALUE_LIST:
		fputc('[', out);
		for (size_t i = 0; i < value->n; i++) {
			fprintf(out, "%s\n%*s", i ? "," : "", indent + 2, "");
			write_json(value->items[i], depth + 1, out);
		}
		if (value->n)
			fprintf(out, "\n%*s", indent, "");
		fputc(']', out);
		break;
	case VALUE_MAP:
		fputc('{', out);
		for (size_t i = 0; i < value->n; i++) {
			fprintf(out, "%s\n%*s", i ? "," : "", indent + 2, "");
			write_string(value->members[i].key, out);
			fputs(": ", out);
			write_json(value->members[i].value, depth + 1, out);
		}
		if (value->n)
			fprintf(out, "\n%*s", indent, "");
		fputc('}', out);
		break;
	}
}

void text_write_json(const struct value *value, FILE *out)
{
	write_json(value, 0, out);
	fputc('\n', out);
}

static json_t *scalar_json(const struct value *value)
{
	json_t *json = NULL;

	if (is_plain(value))
		json = json_loads(value->text, JSON_DECODE_ANY, NULL);
	return json ? json : json_string(value->text);
}

json_t *text_json(const struct value *value)
{
	json_t *json;

	switch (value->kind) {
	case VALUE_SCALAR:
		return scalar_json(value);
	case VALUE_LIST:
		json = json_array();
		for (size_t i = 0; i < value->n; i++)
			json_array_append_new(json, text_json(value->items[i]));
		return json;
	case VALUE_MAP:
		json = json_object();
		for (size_t i = 0; i < value->n; i++)
			json_object_set_new(json, value->members[i].key,
					    text_json(value->members[i].value));
		return json;
	case VALUE_NULL:
		break;
	}
	return json_null();
}

static void write_brief(const struct value *value, bool top, FILE *out)
{
	switch (value->kind) {
	case VALUE_NULL:
		break;
	case VALUE_SCALAR:
		fputs(value->text, out);
		break;
	case VALUE_LIST:
		fputc('[', out);
		for (size_t i = 0; i < value->n; i++) {
			fputs(i ? ", " : "", out);
			write_brief(value->items[i], false, out);
		}
		fputc(']', out);
		break;
	case VALUE_MAP:
		fputs(top ? "" : "{", out);
		for (size_t i = 0; i < value->n; i++) {
			fprintf(out, "%s%s: ", i ? ", " : "", value->members[i].key);
			write_brief(value->members[i].value, false, out);
		}
		fputs(top ? "" : "}", out);
		break;
	}
}

const char *text_brief(struct arena *arena, const struct value *value, unsigned width)
{
	size_t length, at = 0;
	unsigned shown = 0;
	char *text = NULL;
	const char *brief;
	FILE *out;

	if (!value)
		return "";
	out = open_memstream(&text, &length);
	write_brief(value, true, out);
	fclose(out);
	for (size_t i = 0; i < length; i++)
		if (iscntrl((unsigned char)text[i]))
			text[i] = ' ';
	if (text_width(text) <= width) {
		brief = arena_strdup(arena, text);
	} else {
		while (shown < width - 3 || (text[at] & 0xc0) == 0x80)
			shown += (text[at++] & 0xc0) != 0x80;
		brief = arena_printf(arena, "%.*s...", (int)at, text);
	}
	free(text);
	return brief;
}

char *text_join(char *text, const char *word)
{
	char *longer;

	if (asprintf(&longer, "%s%s%s", text ? text : "", text ? " " : "", word) < 0)
		return text;
	free(text);
	return longer;
}
