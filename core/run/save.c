// SPDX-License-Identifier: BSD-3-Clause
// The running graph as a file that loads: nodes say what commands have changed of their parameters.

#include <string.h>

#include "run/inside.h"
#include "value/arena.h"

struct save {
	struct arena *arena;
	bool learned;
};

void *save_memory(struct save *save, size_t n, size_t size)
{
	return arena_alloc(save->arena, n * size);
}

bool save_learned(const struct save *save)
{
	return save->learned;
}

const void *const *params_saved(struct run *run, struct arena *arena, bool learned)
{
	unsigned n = run->graph->n_nodes;
	const void **params = arena_alloc(arena, (n + 1) * sizeof(*params));
	struct save save = {.arena = arena, .learned = learned};

	for (unsigned i = 0; i < n; i++) {
		struct node *node = &run->nodes[i]->pub;
		const struct module_type *type = node->type;

		if (!type->save || !type->params)
			continue;
		void *copy = arena_alloc(arena, type->params->struct_size);

		memcpy(copy, node->params, type->params->struct_size);
		type->save(node, copy, &save);
		params[i] = copy;
	}
	return params;
}

struct value *run_value(struct run *run, struct arena *arena, bool learned)
{
	return graph_value_with(run->graph, params_saved(run, arena, learned), arena);
}
