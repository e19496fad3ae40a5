// SPDX-License-Identifier: BSD-3-Clause
// sluice test --update: writes what came into a test file. Only the texts of the expectations that
// failed are replaced; all else, comments too, stays as it is.

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <yaml.h>

#include "cli/test.h"

#define LINE_WIDTH 100

// The file as text and as libyaml's document, which knows where each part ends.
struct source {
	char *text;
	size_t length;
	size_t *offsets; // of each character, as libyaml counts them, in bytes
	yaml_document_t document;
};

// Bytes of the text that give way to others.
struct patch {
	size_t from;
	size_t to;
	char *text;
};

static int source_read(struct source *source, const char *path)
{
	FILE *file = fopen(path, "r");
	size_t n = 0, room = 0;
	ssize_t got;

	if (!file)
		return -1;
	got = getdelim(&source->text, &room, '\0', file);
	fclose(file);
	if (got < 0)
		return -1;
	source->length = (size_t)got;
	source->offsets = memory_new(source->length + 2, sizeof(*source->offsets));
	for (size_t i = 0; i < source->length; i++)
		if ((source->text[i] & 0xc0) != 0x80)
			source->offsets[n++] = i;
	source->offsets[n] = source->length;
	return 0;
}

static int source_parse(struct source *source)
{
	yaml_parser_t parser;
	int good;

	if (!yaml_parser_initialize(&parser))
		return -1;
	yaml_parser_set_input_string(&parser, (const unsigned char *)source->text, source->length);
	good = yaml_parser_load(&parser, &source->document);
	yaml_parser_delete(&parser);
	return good ? 0 : -1;
}

static void source_free(struct source *source)
{
	yaml_document_delete(&source->document);
	free(source->text);
	free(source->offsets);
}

// The map that a value was read from: it begins at the same place.
static yaml_node_t *find_map(struct source *source, struct place place)
{
	for (int i = 1;; i++) {
		yaml_node_t *node = yaml_document_get_node(&source->document, i);

		if (!node)
			return NULL;
		if (node->type == YAML_MAPPING_NODE && node->start_mark.line + 1 == place.line &&
		    node->start_mark.column + 1 == place.col)
			return node;
	}
}

static yaml_node_pair_t *find_pair(struct source *source, yaml_node_t *map, const char *key)
{
	for (yaml_node_pair_t *pair = map->data.mapping.pairs.start;
	     pair < map->data.mapping.pairs.top; pair++) {
		yaml_node_t *node = yaml_document_get_node(&source->document, pair->key);

		if (node->type == YAML_SCALAR_NODE &&
		    !strcmp((const char *)node->data.scalar.value, key))
			return pair;
	}
	return NULL;
}

// Where a part ends, in characters. libyaml lets a block reach up to the next token, comments
// included; its last leaf tells the true end.
static size_t node_end(struct source *source, int index)
{
	yaml_node_t *node = yaml_document_get_node(&source->document, index);

	if (node->type == YAML_SEQUENCE_NODE &&
	    node->data.sequence.style != YAML_FLOW_SEQUENCE_STYLE &&
	    node->data.sequence.items.top > node->data.sequence.items.start)
		return node_end(source, node->data.sequence.items.top[-1]);
	if (node->type == YAML_MAPPING_NODE &&
	    node->data.mapping.style != YAML_FLOW_MAPPING_STYLE &&
	    node->data.mapping.pairs.top > node->data.mapping.pairs.start)
		return node_end(source, node->data.mapping.pairs.top[-1].value);
	return node->end_mark.index;
}

static bool is_flow(const yaml_node_t *node)
{
	return node->type == YAML_MAPPING_NODE
		   ? node->data.mapping.style == YAML_FLOW_MAPPING_STYLE
		   : node->type != YAML_SEQUENCE_NODE ||
			 node->data.sequence.style == YAML_FLOW_SEQUENCE_STYLE;
}

static void write_scalar(const json_t *json, FILE *out)
{
	json_dumpf(json, out, JSON_ENCODE_ANY | JSON_COMPACT);
}

// `{port: ["...", "..."]}`: on one line if it fits after `at` places, else an item a line.
static void write_flow(const json_t *map, size_t at, FILE *out)
{
	bool broken = at + json_dumpb(map, NULL, 0, 0) > LINE_WIDTH, first = true;
	const char *key;
	json_t *value;

	fputc('{', out);
	json_object_foreach ((json_t *)map, key, value) {
		const json_t *item;
		size_t i;

		if (!first)
			fprintf(out, broken ? ",\n%*s" : ", ", (int)at + 1, "");
		first = false;
		fprintf(out, "%s: ", key);
		if (!json_is_array(value)) {
			write_scalar(value, out);
			continue;
		}
		fputc('[', out);
		json_array_foreach (value, i, item) {
			if (broken)
				fprintf(out, "%s\n%*s", i ? "," : "", (int)at + 2, "");
			else
				fputs(i ? ", " : "", out);
			write_scalar(item, out);
		}
		fputc(']', out);
	}
	fputc('}', out);
}

// The same as a block whose first key stands at column `at`.
static void write_block(const json_t *map, size_t at, FILE *out)
{
	bool first = true;
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)map, key, value) {
		const json_t *item;
		size_t i;

		if (!first)
			fprintf(out, "\n%*s", (int)at, "");
		first = false;
		fprintf(out, "%s:", key);
		if (!json_is_array(value)) {
			fputc(' ', out);
			write_scalar(value, out);
			continue;
		}
		json_array_foreach (value, i, item) {
			fprintf(out, "\n%*s- ", (int)at + 2, "");
			write_scalar(item, out);
		}
	}
}

static bool is_traffic(const json_t *map)
{
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)map, key, value) {
		if (!json_is_array(value))
			return false;
	}
	return json_object_size(map) > 0;
}

// Replaces the value of a key that is there.
static void patch_value(struct source *source, const yaml_node_pair_t *pair, const json_t *now,
			struct patch *patch)
{
	yaml_node_t *value = yaml_document_get_node(&source->document, pair->value);
	size_t size;
	FILE *out = open_memstream(&patch->text, &size);

	patch->from = source->offsets[value->start_mark.index];
	patch->to = source->offsets[node_end(source, pair->value)];
	if (!json_is_object(now))
		write_scalar(now, out);
	else if (is_traffic(now) && !is_flow(value))
		write_block(now, value->start_mark.column, out);
	else
		write_flow(now, value->start_mark.column, out);
	fclose(out);
}

// Adds `out:` to a step without one, behind `in:` or before all else.
static void patch_new(struct source *source, yaml_node_t *map, const char *key, const json_t *now,
		      struct patch *patch)
{
	yaml_node_pair_t *before = find_pair(source, map, "in");
	yaml_node_pair_t *first = map->data.mapping.pairs.start;
	yaml_node_t *head = yaml_document_get_node(&source->document, first->key);
	size_t column = head->start_mark.column, size;
	FILE *out = open_memstream(&patch->text, &size);
	bool flow = is_flow(map);

	patch->from = before ? source->offsets[node_end(source, before->value)]
			     : source->offsets[head->start_mark.index];
	patch->to = patch->from;
	if (before && flow)
		fprintf(out, ",\n%*s%s: ", (int)column, "", key);
	else if (before)
		fprintf(out, "\n%*s%s:\n%*s", (int)column, "", key, (int)column + 2, "");
	else if (flow)
		fprintf(out, "%s: ", key);
	else
		fprintf(out, "%s:\n%*s", key, (int)column + 2, "");
	if (flow)
		write_flow(now, column + strlen(key) + 2, out);
	else
		write_block(now, column + 2, out);
	if (!before && flow)
		fputs(", ", out);
	else if (!before)
		fprintf(out, "\n%*s", (int)column, "");
	fclose(out);
}

static bool patch_make(struct source *source, const struct test_edit *edit, struct patch *patch)
{
	yaml_node_t *map = find_map(source, edit->step->place);
	yaml_node_pair_t *pair;

	if (map && edit->counter) {
		pair = find_pair(source, map, "counters");
		map = pair ? yaml_document_get_node(&source->document, pair->value) : NULL;
	}
	if (!map || map->type != YAML_MAPPING_NODE)
		return false;
	pair = find_pair(source, map, edit->key);
	if (pair)
		patch_value(source, pair, edit->now, patch);
	else
		patch_new(source, map, edit->key, edit->now, patch);
	return true;
}

static int patch_compare(const void *a, const void *b)
{
	const struct patch *x = a, *y = b;

	return x->from < y->from ? -1 : x->from > y->from;
}

// Writes beside the file and renames, so that it is never half of either.
static int source_write(const struct source *source, const char *path, const struct patch *patches,
			unsigned n)
{
	char *beside;
	size_t at = 0;
	FILE *out;
	int result;

	if (asprintf(&beside, "%s.new", path) < 0)
		return -1;
	out = fopen(beside, "w");
	if (!out) {
		free(beside);
		return -1;
	}
	for (unsigned i = 0; i < n; i++) {
		// A part that an alias names is written once.
		if (patches[i].from < at)
			continue;
		fwrite(source->text + at, 1, patches[i].from - at, out);
		fputs(patches[i].text, out);
		at = patches[i].to;
	}
	fwrite(source->text + at, 1, source->length - at, out);
	result = ferror(out) | fclose(out) ? -1 : rename(beside, path);
	if (result)
		unlink(beside);
	free(beside);
	return result;
}

int test_update(struct test_file *file, struct errors *errors)
{
	struct place place = {.file = file->path};
	struct source source = {0};
	struct patch *patches = NULL;
	unsigned n = 0;
	int result = -1;

	if (source_read(&source, file->path) || source_parse(&source)) {
		error_at(errors, place, "cannot be read again to update it");
		free(source.text);
		free(source.offsets);
		return -1;
	}
	for (const struct test_edit *edit = file->edits; edit; edit = edit->next) {
		patches = memory_grow(patches, n + 1, sizeof(*patches));
		n += patch_make(&source, edit, &patches[n]);
	}
	if (n)
		qsort(patches, n, sizeof(*patches), patch_compare);
	result = source_write(&source, file->path, patches, n);
	if (result)
		error_machine_at(errors, place, "cannot be updated: %s", strerror(errno));
	for (unsigned i = 0; i < n; i++)
		free(patches[i].text);
	free(patches);
	source_free(&source);
	return result;
}
