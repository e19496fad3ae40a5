// SPDX-License-Identifier: BSD-3-Clause
// Fuzz target: any bytes as a graph file. What loads is written in its normal form, which must load
// too, and be written the same again.

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/graph.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct graph *graph_of(const char *text, size_t length, struct errors *errors)
{
	struct arena *arena = arena_new();
	struct value *root = yaml_read_text(arena, "fuzz.yaml", text, length, errors);
	struct graph *graph = NULL;

	if (root)
		graph = graph_from_value(arena, "fuzz.yaml", root, NULL, 0, errors);
	else
		arena_free(arena);
	if (!errors_count(errors)) {
		if (!graph) // refused without a reason
			abort();
		return graph;
	}
	// Doubled keys leave a graph, but no good one.
	graph_free(graph);
	return NULL;
}

static char *normal_form(const struct graph *graph, size_t *length)
{
	struct arena *arena = arena_new();
	char *text = NULL;
	FILE *file = open_memstream(&text, length);

	if (!file)
		abort();
	value_write_yaml(graph_value(graph, arena), file);
	fclose(file);
	arena_free(arena);
	return text;
}

static void again(const struct graph *graph)
{
	struct errors *errors = errors_new();
	size_t lengths[2];
	char *texts[2];
	struct graph *second;

	texts[0] = normal_form(graph, &lengths[0]);
	second = graph_of(texts[0], lengths[0], errors);
	if (!second) {
		fputs(texts[0], stderr);
		errors_print(errors, stderr);
		abort();
	}
	texts[1] = normal_form(second, &lengths[1]);
	if (strcmp(texts[0], texts[1])) {
		fprintf(stderr, "%s---\n%s", texts[0], texts[1]);
		abort();
	}
	graph_free(second);
	errors_free(errors);
	free(texts[0]);
	free(texts[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct errors *errors = errors_new();
	char *text = malloc(size + 1);
	struct graph *graph;

	if (!text)
		abort();
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	graph = graph_of(text, size, errors);
	if (graph)
		again(graph);
	else
		free(errors_text(errors));
	graph_free(graph);
	errors_free(errors);
	free(text);
	return 0;
}
