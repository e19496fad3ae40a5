// SPDX-License-Identifier: BSD-3-Clause
// Questions from DPDK's telemetry threads, answered on the control thread.

#include "control/telemetry.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

#include <rte_telemetry.h>

#define ANSWER_SECONDS 2 // that a question may wait while the control thread is at something else

struct question {
	json_t *(*ask)(const char *params);
	const char *params; // "": none
	struct rte_tel_data *answer;
	int result;
	bool done;
	struct question *next;
};

// DPDK's commands are the process's, and so is this.
static struct {
	pthread_mutex_t lock; // of all below
	pthread_cond_t done;
	struct question *first;
	struct run *run; // NULL: nothing runs
	const char *instance;
	bool registered;
} telemetry = {.lock = PTHREAD_MUTEX_INITIALIZER, .done = PTHREAD_COND_INITIALIZER};

static json_t *ask_graph(const char *params)
{
	const struct graph *graph = run_graph(telemetry.run);
	struct run_changes changes;

	(void)params;
	run_change_counts(telemetry.run, &changes);
	return json_pack(
	    "{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "name", telemetry.instance, "file",
	    graph->file, "nodes", (json_int_t)graph->n_nodes, "links", (json_int_t)graph->n_links,
	    "ports", (json_int_t)graph->n_ports, "workers", (json_int_t)graph->n_workers, "seconds",
	    (json_int_t)(run_time_ns(telemetry.run) / 1000000000), "changes",
	    (json_int_t)changes.made, "faults", (json_int_t)run_faults(telemetry.run));
}

static json_t *ask_nodes(const char *params)
{
	const struct graph *graph = run_graph(telemetry.run);
	json_t *names = json_array();

	(void)params;
	for (unsigned i = 0; i < graph->n_nodes; i++)
		json_array_append_new(names, json_string(graph->nodes[i].name));
	return names;
}

static json_t *ask_node(const char *params)
{
	int index = graph_find_node(run_graph(telemetry.run), params);

	return index < 0 ? NULL : run_node_json(telemetry.run, (unsigned)index);
}

static json_t *named(json_t *object, const char *name)
{
	json_object_set_new(object, "name", json_string(name));
	return object;
}

static json_t *ask_ports(const char *params)
{
	const struct graph *graph = run_graph(telemetry.run);
	json_t *ports = json_array();

	(void)params;
	for (unsigned i = 0; i < graph->n_ports; i++)
		json_array_append_new(ports,
				      named(run_port_json(telemetry.run, i), graph->ports[i].name));
	return ports;
}

static json_t *ask_workers(const char *params)
{
	json_t *workers = json_array();

	(void)params;
	for (unsigned i = 0; i < run_workers(telemetry.run); i++)
		json_array_append_new(workers, run_worker_json(telemetry.run, i));
	return workers;
}

static json_t *ask_links(const char *params)
{
	(void)params;
	return run_links_json(telemetry.run);
}

// All items are of one kind, texts or numbers. What is more than DPDK lets an answer hold is left
// out.
static int array_fill(struct rte_tel_data *to, const json_t *from)
{
	bool texts = json_is_string(json_array_get(from, 0));
	int result = rte_tel_data_start_array(to, texts ? RTE_TEL_STRING_VAL : RTE_TEL_U64_VAL);
	const json_t *value;
	size_t i;

	json_array_foreach (from, i, value) {
		if (i == RTE_TEL_MAX_ARRAY_ENTRIES)
			break;
		result |= texts
			      ? rte_tel_data_add_array_string(to, json_string_value(value))
			      : rte_tel_data_add_array_u64(to, (uint64_t)json_integer_value(value));
	}
	return result;
}

static int value_fill(struct rte_tel_data *to, json_t *from);

static int part_add(struct rte_tel_data *to, const char *key, json_t *from)
{
	struct rte_tel_data *part;

	switch (json_typeof(from)) {
	case JSON_STRING:
		return rte_tel_data_add_dict_string(to, key, json_string_value(from));
	case JSON_INTEGER:
		return rte_tel_data_add_dict_u64(to, key, (uint64_t)json_integer_value(from));
	case JSON_TRUE:
	case JSON_FALSE:
		return rte_tel_data_add_dict_int(to, key, json_is_true(from));
	case JSON_OBJECT:
	case JSON_ARRAY:
		part = rte_tel_data_alloc();
		if (part && !value_fill(part, from) &&
		    !rte_tel_data_add_dict_container(to, key, part, 0))
			return 0;
		rte_tel_data_free(part);
		return -1;
	default:
		return 0;
	}
}

// DPDK has no list of maps: it is a map by number. Names of nodes could not be its keys, for DPDK
// takes letters, digits and `_` alone.
static int value_fill(struct rte_tel_data *to, json_t *from)
{
	int result = 0;
	const char *key;
	json_t *value;
	size_t i;

	if (json_is_array(from) && !json_is_object(json_array_get(from, 0)))
		return array_fill(to, from);
	rte_tel_data_start_dict(to);
	json_object_foreach (from, key, value)
		result |= part_add(to, key, value);
	json_array_foreach (from, i, value) {
		char number[24];

		if (i == RTE_TEL_MAX_DICT_ENTRIES)
			break;
		snprintf(number, sizeof(number), "%zu", i);
		result |= part_add(to, number, value);
	}
	return result;
}

static void question_answer(struct question *question)
{
	json_t *json = question->ask(question->params);

	question->result = json ? value_fill(question->answer, json) : -1;
	json_decref(json);
}

static void question_remove(const struct question *question)
{
	struct question **at = &telemetry.first;

	while (*at && *at != question)
		at = &(*at)->next;
	if (*at)
		*at = question->next;
}

// On a thread of DPDK's. Without an answer in time DPDK says `null`.
static int hand_over(json_t *(*ask)(const char *), const char *params, struct rte_tel_data *answer)
{
	struct question question = {
	    .ask = ask, .params = params ? params : "", .answer = answer, .result = -1};
	struct timespec until;
	struct question **end = &telemetry.first;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += ANSWER_SECONDS;
	pthread_mutex_lock(&telemetry.lock);
	if (telemetry.run) {
		while (*end)
			end = &(*end)->next;
		*end = &question;
	} else {
		question.done = true;
	}
	while (!question.done && !pthread_cond_timedwait(&telemetry.done, &telemetry.lock, &until))
		;
	question_remove(&question);
	pthread_mutex_unlock(&telemetry.lock);
	return question.result;
}

#define COMMAND(NAME)                                                                              \
	static int on_##NAME(const char *command, const char *params, struct rte_tel_data *answer) \
	{                                                                                          \
		(void)command;                                                                     \
		return hand_over(ask_##NAME, params, answer);                                      \
	}
COMMAND(graph)
COMMAND(nodes)
COMMAND(node)
COMMAND(ports)
COMMAND(workers)
COMMAND(links)

static const struct {
	const char *command;
	telemetry_cb answer;
	const char *help;
} commands[] = {
    {"/sluice/graph", on_graph, "The instance and its graph. Takes no parameters."},
    {"/sluice/nodes", on_nodes, "The names of all nodes. Takes no parameters."},
    {"/sluice/node", on_node, "The counters of a node. Parameters: its name."},
    {"/sluice/ports", on_ports, "The counters of all ports. Takes no parameters."},
    {"/sluice/workers", on_workers, "The counters of all workers. Takes no parameters."},
    {"/sluice/links", on_links, "What passed each link. Takes no parameters."},
};

void telemetry_begin(struct run *run, const char *instance)
{
	bool registered;

	pthread_mutex_lock(&telemetry.lock);
	telemetry.run = run;
	telemetry.instance = instance;
	registered = telemetry.registered;
	telemetry.registered = true;
	pthread_mutex_unlock(&telemetry.lock);
	for (size_t i = 0; !registered && i < sizeof(commands) / sizeof(*commands); i++)
		rte_telemetry_register_cmd(commands[i].command, commands[i].answer,
					   commands[i].help);
}

static void questions_end(bool answer)
{
	struct question *question;

	while ((question = telemetry.first)) {
		telemetry.first = question->next;
		if (answer)
			question_answer(question);
		question->done = true;
	}
	pthread_cond_broadcast(&telemetry.done);
}

void telemetry_tick(void)
{
	pthread_mutex_lock(&telemetry.lock);
	if (telemetry.first)
		questions_end(telemetry.run);
	pthread_mutex_unlock(&telemetry.lock);
}

void telemetry_end(void)
{
	pthread_mutex_lock(&telemetry.lock);
	telemetry.run = NULL;
	questions_end(false);
	pthread_mutex_unlock(&telemetry.lock);
}
