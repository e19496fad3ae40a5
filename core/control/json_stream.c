// SPDX-License-Identifier: BSD-3-Clause
// A JSON value as a stream: lists and objects are gone through member by member as the client
// takes them, so that there is never a text of the whole.

#include <stdlib.h>
#include <string.h>

#include "control/route.h"

#define DEPTH_MAX 4		// what is nested deeper is written whole
#define WHOLE_BYTES (64u << 10) // what is shorter is no stream
#define FLAGS (JSON_COMPACT | JSON_REAL_PRECISION(12) | JSON_ENCODE_ANY)

// A list or object that is being written, and which member is next.
struct level {
	json_t *value;
	size_t index;
	void *member;
};

struct writer {
	json_t *root;
	struct level levels[DEPTH_MAX];
	unsigned depth;
	bool ended;
	bool broken; // there is no memory
	char *piece; // written, and not yet taken
	size_t n, size;
};

static int piece_add(const char *text, size_t n, void *to)
{
	struct writer *writer = to;

	if (n > writer->size - writer->n) {
		size_t size = (writer->n + n) * 2;
		char *piece = realloc(writer->piece, size);

		if (!piece)
			return -1;
		writer->piece = piece;
		writer->size = size;
	}
	memcpy(writer->piece + writer->n, text, n);
	writer->n += n;
	return 0;
}

static void put(struct writer *writer, const char *text)
{
	writer->broken |= piece_add(text, strlen(text), writer) != 0;
}

static void member_put(struct writer *writer, json_t *value)
{
	bool list = json_is_array(value);

	if (writer->depth == DEPTH_MAX || (!list && !json_is_object(value))) {
		writer->broken |= json_dump_callback(value, piece_add, writer, FLAGS) != 0;
		return;
	}
	put(writer, list ? "[" : "{");
	writer->levels[writer->depth++] =
	    (struct level){.value = value, .member = list ? NULL : json_object_iter(value)};
}

static void key_put(struct writer *writer, const char *key)
{
	json_t *text = json_string(key);

	writer->broken |= json_dump_callback(text, piece_add, writer, FLAGS) != 0;
	json_decref(text);
	put(writer, ":");
}

// Writes the next member of the innermost list or object, or its end.
static void step(struct writer *writer)
{
	struct level *level = &writer->levels[writer->depth - 1];
	bool list = json_is_array(level->value);
	json_t *value;

	if (list ? level->index == json_array_size(level->value) : !level->member) {
		put(writer, list ? "]" : "}");
		if (!--writer->depth)
			put(writer, "\n");
		return;
	}
	if (level->index++)
		put(writer, ",");
	if (list) {
		value = json_array_get(level->value, level->index - 1);
	} else {
		value = json_object_iter_value(level->member);
		key_put(writer, json_object_iter_key(level->member));
		level->member = json_object_iter_next(level->value, level->member);
	}
	member_put(writer, value);
}

static ssize_t writer_read(void *state, char *to, size_t n)
{
	struct writer *writer = state;

	while (writer->depth && !writer->broken && writer->n < n)
		step(writer);
	if (writer->broken)
		return STREAM_BROKEN;
	if (n > writer->n)
		n = writer->n;
	memcpy(to, writer->piece, n);
	writer->n -= n;
	memmove(writer->piece, writer->piece + n, writer->n);
	return n ? (ssize_t)n : STREAM_END;
}

static void writer_close(void *state)
{
	struct writer *writer = state;

	json_decref(writer->root);
	free(writer->piece);
	free(writer);
}

void json_stream(struct answer *answer)
{
	struct writer *writer = memory_new(1, sizeof(*writer));

	writer->root = answer->json;
	answer->json = NULL;
	answer->type = "application/json";
	member_put(writer, writer->root);
	if (!writer->depth)
		put(writer, "\n");
	while (writer->depth && !writer->broken && writer->n < WHOLE_BYTES)
		step(writer);
	answer->stream =
	    (struct answer_stream){.read = writer_read, .close = writer_close, .state = writer};
	if (writer->depth || writer->broken || piece_add("", 1, writer))
		return;
	answer->text = writer->piece;
	writer->piece = NULL;
	answer->stream.read = NULL;
	writer_close(writer);
}
