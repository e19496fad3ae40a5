// SPDX-License-Identifier: BSD-3-Clause
// Which worker runs which sources, as the file says or by assignment, and whether that can be.

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "graph/load.h"
#include "value/table.h"

struct worker_source {
	const char *name;
};

struct worker_params {
	int32_t core;
	struct param_list sources;
};

static const struct param worker_source_params[] = {
    PARAM(worker_source, name, .help = "a source of the graph"),
    PARAM_END,
};

const struct param graph_worker_params[] = {
    PARAM(worker_params, core, .def = "-1", .min = -1, .max = CPU_SETSIZE - 1,
	  .help = "the core it is pinned to; -1: the last allowed one that is free"),
    PARAM(worker_params, sources, .def = "", .fields = worker_source_params,
	  .help = "the sources it polls; left out: what no other worker runs"),
    PARAM_END,
};

// EAL pins the thread that starts it, so what the process was given is noted before that.
static cpu_set_t cores_given;

__attribute__((constructor)) static void cores_note(void)
{
	sched_getaffinity(0, sizeof(cores_given), &cores_given);
}

const cpu_set_t *graph_cores(void)
{
	return &cores_given;
}

cpu_set_t graph_cores_beside(const struct graph *graph)
{
	cpu_set_t cores = cores_given;

	for (unsigned i = 0; i < graph->n_workers; i++)
		CPU_CLR(graph->workers[i].core, &cores);
	return CPU_COUNT(&cores) ? cores : cores_given;
}

static const char *cores_text(struct arena *arena)
{
	const char *text = "";

	for (int i = 0; i < CPU_SETSIZE; i++) {
		int last = i;

		if (!CPU_ISSET(i, &cores_given))
			continue;
		while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, &cores_given))
			last++;
		text = last > i ? arena_printf(arena, "%s%s%d-%d", text, *text ? ", " : "", i, last)
				: arena_printf(arena, "%s%s%d", text, *text ? ", " : "", i);
		i = last;
	}
	return text;
}

static bool core_taken(const struct graph *graph, int core)
{
	for (unsigned i = 0; i < graph->n_workers; i++)
		if (graph->workers[i].core == core)
			return true;
	return false;
}

// Cores for the workers that name none, from the last allowed one down.
static void cores_choose(struct draft *draft)
{
	struct graph *graph = draft->graph;

	for (unsigned i = graph->n_workers; i-- > 0;) {
		struct graph_worker *worker = &graph->workers[i];
		int core = CPU_SETSIZE - 1;

		if (worker->core >= 0)
			continue;
		while (core >= 0 && (!CPU_ISSET(core, &cores_given) || core_taken(graph, core)))
			core--;
		if (core < 0) {
			error_machine_at(
			    draft->errors, worker->place,
			    "%u workers want a core each, this process is allowed %d (%s)",
			    graph->n_workers, CPU_COUNT(&cores_given), cores_text(graph->arena));
			return;
		}
		worker->core = core;
	}
}

static void cores_check(struct draft *draft)
{
	struct graph *graph = draft->graph;

	for (unsigned i = 0; i < graph->n_workers; i++) {
		const struct graph_worker *worker = &graph->workers[i];

		for (unsigned j = 0; j < i; j++)
			if (worker->core >= 0 && graph->workers[j].core == worker->core)
				error_at(
				    draft->errors, worker->place,
				    "core %d has a worker already (line %u); each worker has a "
				    "core of its own",
				    worker->core, graph->workers[j].place.line);
		if (worker->core >= 0 && !CPU_ISSET(worker->core, &cores_given))
			error_machine_at(
			    draft->errors, worker->place,
			    "core %d is not among those that this process is allowed (%s)",
			    worker->core, cores_text(graph->arena));
	}
}

static int source_find(struct draft *draft, const char *name, struct place place)
{
	struct graph *graph = draft->graph;
	int node = graph_find_node(graph, name);
	const char **names;
	const char *near;
	unsigned n = 0;

	if (node >= 0 && (!graph->nodes[node].type || graph->nodes[node].source))
		return node;
	if (node >= 0) {
		error_at(draft->errors, place,
			 "%s '%s' is no source, a worker is given nodes that make packets",
			 graph->nodes[node].type->name, name);
		return -1;
	}
	names = memory_new(graph->n_nodes + 1, sizeof(*names));
	for (unsigned i = 0; i < graph->n_nodes; i++)
		if (graph->nodes[i].source)
			names[n++] = graph->nodes[i].name;
	near = suggest(name, names, n);
	error_at(draft->errors, place, "no source \"%s\"%s%s%s", name,
		 near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
	free(names);
	return -1;
}

static void share_add(struct draft *draft, struct graph_worker *worker, unsigned node,
		      struct place place)
{
	struct graph *graph = draft->graph;

	for (unsigned i = 0; i < worker->n_sources; i++)
		if (worker->sources[i].node == node) {
			error_at(draft->errors, place,
				 "source \"%s\" is named twice, each is polled as often as its "
				 "weight says",
				 graph->nodes[node].name);
			return;
		}
	share_give(graph, worker, node);
}

static void weight_read(struct draft *draft, struct graph_worker *worker,
			const struct member *member)
{
	int node = source_find(draft, member->key, member->place);
	const struct value *value = member->value;
	uint64_t weight = 0;
	const char *why = "is no number";

	if (node < 0)
		return;
	if (value->kind != VALUE_SCALAR || !parse_u64(value->text, &weight, &why) || weight < 1 ||
	    weight > 1000) {
		error_at(draft->errors, value->place,
			 "the weight of \"%s\" is %s, it should be a number from 1 to 1000",
			 member->key,
			 value->kind == VALUE_SCALAR ? value->text
						     : value_describe(draft->graph->arena, value));
		return;
	}
	for (unsigned i = 0; i < worker->n_sources; i++)
		if (worker->sources[i].node == (unsigned)node) {
			worker->sources[i].weight = (unsigned)weight;
			return;
		}
	error_at(draft->errors, member->place,
		 "\"%s\" has a weight, but is not among the sources of this worker", member->key);
}

// `policy: round_robin` or `policy: {weighted: {rx: 3, gen: 1}}`.
static void policy_read(struct draft *draft, struct graph_worker *worker,
			const struct value *policy)
{
	const struct value *weights = NULL;

	if (!policy || policy->kind == VALUE_NULL ||
	    (policy->kind == VALUE_SCALAR && !strcmp(policy->text, "round_robin")))
		return;
	if (policy->kind == VALUE_MAP && policy->n == 1)
		weights = value_get(policy, "weighted");
	if (!weights || weights->kind != VALUE_MAP) {
		error_at(draft->errors, policy->place,
			 "policy is %s, it should be round_robin or {weighted: {source: number}}",
			 value_describe(draft->graph->arena, policy));
		return;
	}
	for (size_t i = 0; i < weights->n; i++)
		weight_read(draft, worker, &weights->members[i]);
}

static void worker_read(struct draft *draft, struct graph_worker *worker, const struct value *item)
{
	struct arena *arena = draft->graph->arena;
	struct value *map = value_new(arena, VALUE_MAP, item->place);
	const struct value *sources = value_get(item, "sources");
	const struct worker_params *params;

	worker->place = item->place;
	worker->core = -1;
	for (size_t i = 0; i < item->n; i++)
		if (strcmp(item->members[i].key, "policy") != 0)
			value_put(arena, map, item->members[i].key, item->members[i].place,
				  item->members[i].value);
	params =
	    table_fill(arena, graph_worker_params, "worker", item->place, map, NULL, draft->errors);
	if (params) {
		worker->core = params->core;
		for (unsigned i = 0; i < params->sources.n; i++) {
			const char *name = param_item(worker_source, params->sources, i)->name;
			int node = source_find(draft, name, sources->items[i]->place);

			if (node >= 0)
				share_add(draft, worker, (unsigned)node, sources->items[i]->place);
		}
	}
	policy_read(draft, worker, value_get(item, "policy"));
}

// Reads what the file says; without a word one worker.
static void list_read(struct draft *draft, const struct value *workers)
{
	struct graph *graph = draft->graph;
	uint64_t n = 1;
	const char *why;

	if (workers && workers->faulty)
		return;
	graph->workers_written = workers && workers->kind != VALUE_NULL;
	if (graph->workers_written && workers->kind == VALUE_LIST)
		n = workers->n;
	else if (graph->workers_written &&
		 (workers->kind != VALUE_SCALAR || !parse_u64(workers->text, &n, &why))) {
		error_at(
		    draft->errors, workers->place,
		    "workers is %s, it should be a number or a list of {core, sources, policy}",
		    value_describe(graph->arena, workers));
		return;
	}
	if (n < 1 || n > WORKERS_MAX) {
		error_at(draft->errors, workers->place, "%" PRIu64 " workers, it should be 1 to %u",
			 n, WORKERS_MAX);
		return;
	}
	graph->workers = arena_alloc(graph->arena, n * sizeof(*graph->workers));
	graph->n_workers = (unsigned)n;
	for (unsigned i = 0; i < n; i++) {
		graph->workers[i].core = -1;
		graph->workers[i].place =
		    graph->workers_written ? workers->place : (struct place){.file = graph->file};
		if (!graph->workers_written || workers->kind != VALUE_LIST)
			continue;
		if (workers->items[i]->kind == VALUE_MAP)
			worker_read(draft, &graph->workers[i], workers->items[i]);
		else
			error_at(draft->errors, workers->items[i]->place,
				 "%s is no worker, it should be {core: 1, sources: [rx]}",
				 value_describe(graph->arena, workers->items[i]));
	}
	cores_check(draft);
	cores_choose(draft);
}

void workers_read(struct draft *draft, const struct value *workers)
{
	list_read(draft, workers);
	// Parameters and order must be known for the rest.
	if (!draft_clean(draft))
		return;
	workers_assign(draft);
	if (draft_clean(draft))
		workers_check(draft);
}
