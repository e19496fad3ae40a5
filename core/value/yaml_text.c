// SPDX-License-Identifier: BSD-3-Clause
// Refuses what is no text before the parser of YAML sees it.

#include "value/yaml_text.h"

#include <stdlib.h>
#include <string.h>

#include "value/file.h"
#include "value/value.h"

static struct place whole_file(const char *file)
{
	return (struct place){.file = file};
}

// What a file is by its first bytes, if it is not text at all.
static const struct magic {
	const char *bytes;
	unsigned char n;
	const char *what;
} magics[] = {
    {"\xa1\xb2\xc3\xd4", 4, "a packet capture"},
    {"\xd4\xc3\xb2\xa1", 4, "a packet capture"},
    {"\xa1\xb2\x3c\x4d", 4, "a packet capture"},
    {"\x4d\x3c\xb2\xa1", 4, "a packet capture"},
    {"\xa1\xb2\xcd\x34", 4, "a packet capture"},
    {"\x34\xcd\xb2\xa1", 4, "a packet capture"},
    {"\x0a\x0d\x0d\x0a", 4, "a packet capture"},
    {"\x7f\x45LF", 4, "a program or library (ELF)"},
    {"\x1f\x8b", 2, "a compressed file (gzip)"},
    {"\x28\xb5\x2f\xfd", 4, "a compressed file (zstd)"},
    {"\xfd\x37zXZ", 5, "a compressed file (xz)"},
    {"BZh91AY&SY", 10, "a compressed file (bzip2)"},
    {"PK\x03\x04", 4, "a zip archive"},
    {"\x89PNG", 4, "a picture (PNG)"},
    {"%PDF-", 5, "a PDF document"},
    {"\x1bLua", 4, "compiled Lua"},
};

// How long the part of the file is in which a NUL says that all of it is binary, as git has it.
#define BINARY_LOOK 8000

static bool utf16(const struct yaml_text *text)
{
	return text->length >= 2 &&
	       (!memcmp(text->text, "\xff\xfe", 2) || !memcmp(text->text, "\xfe\xff", 2));
}

static struct place place_of_byte(const struct yaml_text *text, size_t offset)
{
	struct place place = {.file = text->file, .line = 1, .col = 1};
	bool wide = utf16(text);
	bool little = wide && text->text[0] == 0xff;
	bool after_cr = false;
	size_t i = 0;

	if (wide)
		i = 2;
	else if (text->length >= 3 && !memcmp(text->text, "\xef\xbb\xbf", 3))
		i = 3;
	for (; i < offset && i < text->length; i += wide ? 2 : 1) {
		unsigned c = text->text[i];

		if (wide && i + 1 < text->length)
			c = little ? c | text->text[i + 1] << 8 : c << 8 | text->text[i + 1];
		if (c == '\r' || c == '\n') {
			place.line += !(c == '\n' && after_cr);
			place.col = 1;
		} else if (wide ? (c & 0xfc00) != 0xdc00 : (c & 0xc0) != 0x80) {
			place.col++;
		}
		after_cr = c == '\r';
	}
	return place;
}

bool yaml_text_refused(const struct yaml_text *text)
{
	const unsigned char *nul;

	if (text->length > VALUE_BYTES_MAX) {
		error_at(text->errors, whole_file(text->file),
			 "is %zu bytes long, a graph file should be at most 16 MiB", text->length);
		return true;
	}
	for (size_t i = 0; i < sizeof(magics) / sizeof(*magics); i++)
		if (text->length >= magics[i].n &&
		    !memcmp(text->text, magics[i].bytes, magics[i].n)) {
			error_at(text->errors, whole_file(text->file), "is %s, not a graph file",
				 magics[i].what);
			return true;
		}
	nul = utf16(text) || !text->length ? NULL : memchr(text->text, 0, text->length);
	if (!nul)
		return false;
	// One slip of an editor has a place; a file full of NULs is no text.
	if (nul - text->text < BINARY_LOOK && text->length - (nul - text->text) > 1 &&
	    memchr(nul + 1, 0, text->length - (nul - text->text) - 1))
		error_at(text->errors, whole_file(text->file), "is binary data, not a graph file");
	else
		error_at(text->errors, place_of_byte(text, nul - text->text),
			 "a NUL byte, the file should be text in UTF-8");
	return true;
}

struct place yaml_place(const struct yaml_text *text, yaml_mark_t mark)
{
	return (struct place){.file = text->file, .line = mark.line + 1, .col = mark.column + 1};
}

// The reader's faults have no mark, but the offset of a byte.
static void reader_fault(const struct yaml_text *text, const yaml_parser_t *parser)
{
	struct place place = place_of_byte(text, parser->problem_offset);

	if (!strcmp(parser->problem, "control characters are not allowed"))
		error_at(text->errors, place,
			 "the control character U+%04X, it should be left out or written as an "
			 "escape in double quotes",
			 (unsigned)parser->problem_value);
	else if (utf16(text))
		error_at(text->errors, place,
			 "this is not UTF-16, as the first bytes of the file say it should be");
	else if (parser->problem_offset < text->length)
		error_at(text->errors, place,
			 "the byte 0x%02x is not UTF-8, the file should be text in UTF-8",
			 text->text[parser->problem_offset]);
	else
		error_at(text->errors, place,
			 "the last character is cut, the file should be text in UTF-8");
}

// The line of the mark, or NULL where lines are not to be found by newlines (UTF-16, lone CRs).
static const unsigned char *line_start(const struct yaml_text *text, yaml_mark_t mark)
{
	const unsigned char *at = text->text, *end = text->text + text->length;

	if (utf16(text))
		return NULL;
	for (size_t line = 0; line < mark.line; line++) {
		at = memchr(at, '\n', end - at);
		if (!at)
			return NULL;
		at++;
	}
	return at;
}

// A tab among the blanks at the start of the line of the mark, outside any brackets.
static bool tab_indents(const struct yaml_text *text, const yaml_parser_t *parser,
			struct place *place)
{
	const unsigned char *at = line_start(text, parser->problem_mark);
	const unsigned char *end = text->text + text->length;
	unsigned col = 1;

	if (parser->flow_level || !at)
		return false;
	for (; at < end && *at == ' '; at++)
		col++;
	if (at == end || *at != '\t')
		return false;
	place->col = col;
	return true;
}

// `${name}` without quotes where the brace opens a map: inside brackets.
static bool brace_of_var(const struct yaml_text *text, yaml_mark_t mark)
{
	const unsigned char *at = line_start(text, mark);
	const unsigned char *end = text->text + text->length;

	for (size_t col = 0; at && at < end; at++) {
		if ((*at & 0xc0) == 0x80)
			continue;
		if (col++ == mark.column)
			return *at == '{' && at > text->text && at[-1] == '$';
	}
	return false;
}

enum fault_form {
	PLAIN,
	AT_CONTEXT,   // the place is where the thing started that went wrong
	TELL_CONTEXT, // the line where it started is told
	MAYBE_TAB,    // the cause may be a tab at the start of the line
	TAB,
	CHARACTER, // the character at the mark is told, unless it is a tab
};

static const struct fault {
	const char *problem;
	const char *context; // NULL: any
	enum fault_form form;
	const char *text;
} faults[] = {
    {"found character that cannot start any token", NULL, CHARACTER,
     "\"%c\" cannot start a text, the text should be in quotes"},
    {"found a tab character that violates indentation", NULL, TAB, NULL},
    {"found a tab character where an indentation space is expected", NULL, TAB, NULL},
    {"mapping values are not allowed in this context", NULL, MAYBE_TAB,
     "a \":\" that belongs to no key, the text should be in quotes, or else indented as its "
     "neighbours"},
    {"mapping keys are not allowed in this context", NULL, MAYBE_TAB,
     "a \"?\" that starts no key, the text should be in quotes"},
    {"block sequence entries are not allowed in this context", NULL, MAYBE_TAB,
     "a \"-\" that starts no item, a list should start on a line of its own"},
    {"could not find expected ':'", "while scanning a simple key", AT_CONTEXT,
     "a text without \":\" among the keys of a map, it should be \"key: value\""},
    {"found unexpected end of stream", "while scanning a quoted scalar", AT_CONTEXT,
     "this quote is not closed, the text should end with the same quote"},
    {"found unexpected document indicator", NULL, AT_CONTEXT,
     "this quote is not closed, the text should end with the same quote"},
    {"found unknown escape character", NULL, PLAIN,
     "an unknown escape, a backslash in double quotes should be written \\\\"},
    {"did not find expected hexdecimal number", NULL, PLAIN,
     "an escape without its digits, it should be for example \\x41 or \\u00e4"},
    {"found invalid Unicode character escape code", NULL, PLAIN,
     "an escape that is no character, it should be for example \\x41 or \\u00e4"},
    {"did not find expected ',' or ']'", NULL, TELL_CONTEXT,
     "the list that starts at line %zu goes on here, \",\" or \"]\" should come first"},
    {"did not find expected ',' or '}'", NULL, TELL_CONTEXT,
     "the map that starts at line %zu goes on here, \",\" or \"}\" should come first"},
    {"did not find expected key", NULL, TELL_CONTEXT,
     "this is no member of the map that starts at line %zu, it should be \"key: value\", "
     "indented as the others"},
    {"did not find expected '-' indicator", NULL, TELL_CONTEXT,
     "this is no item of the list that starts at line %zu, it should be \"- item\", indented as "
     "the others"},
    {"did not find expected node content", NULL, PLAIN,
     "nothing to read here, it should be a text, a list or a map"},
    {"did not find expected <document start>", NULL, PLAIN,
     "more text after the end of the value, the file should hold one value"},
    {"did not find expected alphabetic or numeric character", "while scanning an alias", AT_CONTEXT,
     "a \"*\" that starts no alias, the text should be in quotes"},
    {"did not find expected alphabetic or numeric character", "while scanning an anchor",
     AT_CONTEXT, "a \"&\" that starts no anchor, the text should be in quotes"},
    {"found unexpected ':'", NULL, PLAIN, "a \":\" inside a text, the text should be in quotes"},
    {"did not find expected comment or line break", "while scanning a block scalar", PLAIN,
     "text behind \"|\" or \">\", it should start on the next line"},
    {"found undefined tag handle", NULL, PLAIN,
     "a tag, a text that starts with \"!\" should be in quotes"},
};

// The formats of the table take one number or none.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-security"

static void fault_write(const struct yaml_text *text, const yaml_parser_t *parser,
			const struct fault *fault)
{
	struct place place = yaml_place(text, parser->problem_mark);
	unsigned char here = *parser->buffer.pointer;

	if (fault->form == TAB || (fault->form == CHARACTER && here == '\t') ||
	    (fault->form == MAYBE_TAB && tab_indents(text, parser, &place))) {
		error_at(text->errors, place, "a tab in the indentation, it should be spaces");
		return;
	}
	if (fault->form == CHARACTER)
		error_at(text->errors, place, fault->text, here);
	else if (fault->form == TELL_CONTEXT && brace_of_var(text, parser->problem_mark))
		error_at(text->errors, place,
			 "a \"${\" inside brackets, the text should be in quotes");
	else if (fault->form == TELL_CONTEXT)
		error_at(text->errors, place, fault->text, parser->context_mark.line + 1);
	else if (fault->form == AT_CONTEXT && parser->context)
		error_at(text->errors, yaml_place(text, parser->context_mark), fault->text);
	else
		error_at(text->errors, yaml_place(text, parser->problem_mark), fault->text);
}

#pragma GCC diagnostic pop

void yaml_fault_report(const struct yaml_text *text, const yaml_parser_t *parser)
{
	if (parser->error == YAML_READER_ERROR) {
		reader_fault(text, parser);
		return;
	}
	if (parser->error == YAML_MEMORY_ERROR || !parser->problem) {
		error_machine_at(text->errors, whole_file(text->file),
				 "not enough memory to read the file");
		return;
	}
	for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++)
		if (!strcmp(faults[i].problem, parser->problem) &&
		    (!faults[i].context ||
		     (parser->context && !strcmp(faults[i].context, parser->context)))) {
			fault_write(text, parser, &faults[i]);
			return;
		}
	error_at(text->errors, yaml_place(text, parser->problem_mark),
		 "this is not YAML (%s), texts with special characters should be in quotes",
		 parser->problem);
}

struct value *yaml_read_file(struct arena *arena, const char *file, struct errors *errors)
{
	size_t length;
	char *bytes = file_read(file, &length, errors);
	struct value *value;

	if (!bytes)
		return NULL;
	value = yaml_read_text(arena, file, bytes, length, errors);
	free(bytes);
	return value;
}
