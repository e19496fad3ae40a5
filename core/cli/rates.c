// SPDX-License-Identifier: BSD-3-Clause
// Rates from two samples of counters; `sluice stats` and `sluice top` show them.

#include "cli/rates.h"

#include <math.h>
#include <string.h>

#include "cli/grid.h"

uint64_t count_of(const json_t *object, const char *key)
{
	json_int_t n = json_integer_value(json_object_get(object, key));

	return n > 0 ? (uint64_t)n : 0;
}

uint64_t count_sum(const json_t *object, const char *key)
{
	json_t *all = json_object_get(object, key), *item;
	const char *name;
	uint64_t sum = 0;
	size_t i;

	json_array_foreach (all, i, item)
		sum += (uint64_t)json_integer_value(item);
	json_object_foreach (all, name, item)
		sum += (uint64_t)json_integer_value(item);
	return sum;
}

// What a counter that is not there yet stood at: nothing.
static double growth(uint64_t now, uint64_t last, bool known)
{
	return known && now >= last ? (double)(now - last) : NAN;
}

double rate_of(const json_t *now, const json_t *last, const char *key, double seconds)
{
	return growth(count_of(now, key), count_of(last, key), now && seconds > 0) / seconds;
}

static double ratio(double a, double b)
{
	return b > 0 ? a / b : NAN;
}

static const char *text(const json_t *object, const char *key)
{
	const char *value = json_string_value(json_object_get(object, key));

	return value ? value : "";
}

static double seconds_of(const json_t *sample)
{
	return json_number_value(json_object_get(sample, "seconds"));
}

// The clock of the run, and that of the machine, must have gone on alike: else it is another run. A
// machine's clock that was set costs one interval.
bool rates_comparable(const json_t *now, const json_t *last)
{
	double run = seconds_of(now) - seconds_of(last);
	double machine = ((double)json_integer_value(json_object_get(now, "time_ns")) -
			  (double)json_integer_value(json_object_get(last, "time_ns"))) /
			 1e9;

	return now && last && run > 0 && fabs(run - machine) < 0.25 + 0.05 * run;
}

// Packets that a node has handled: what came in, or what a source made.
static uint64_t handled(const json_t *node)
{
	return json_array_size(json_object_get(node, "in")) && count_sum(node, "in")
		   ? count_sum(node, "in")
		   : count_sum(node, "out");
}

struct between {
	const json_t *now;
	const json_t *last; // NULL: since the start, or not known
	bool known;
	double seconds;
};

// Cycles of the workers that a node names; all of them where it names none.
static double workers_cycles(const struct between *at, const json_t *node)
{
	const json_t *own = json_object_get(node, "workers"), *worker;
	const json_t *now = json_object_get(at->now, "workers");
	const json_t *last = json_object_get(at->last, "workers");
	double all = 0;
	size_t i, j;

	json_array_foreach (now, i, worker) {
		const json_t *before = json_array_get(last, i), *index;
		bool runs = !own;

		json_array_foreach (own, j, index)
			runs |= json_integer_value(index) == (json_int_t)i;
		if (!runs)
			continue;
		all += growth(count_of(worker, "busy_cycles"), count_of(before, "busy_cycles"),
			      at->known);
		all += growth(count_of(worker, "idle_cycles"), count_of(before, "idle_cycles"),
			      at->known);
	}
	return all;
}

// Samples are few: where none was taken between, the average of all so far stands for them.
static double cycles_of(const struct between *at, const json_t *now, const json_t *last)
{
	double cycles = growth(count_of(now, "cycles"), count_of(last, "cycles"), at->known);
	double packets =
	    growth(count_of(now, "cycles_sampled"), count_of(last, "cycles_sampled"), at->known);

	if (packets > 0)
		return ratio(cycles, packets);
	return ratio((double)count_of(now, "cycles"), (double)count_of(now, "cycles_sampled"));
}

static void node_fill(const struct between *at, struct node_rates *node, const char *name,
		      const json_t *now, const json_t *last)
{
	double packets = growth(handled(now), handled(last), at->known);
	double batches = growth(count_of(now, "batches"), count_of(last, "batches"), at->known);
	double seconds = at->seconds;

	*node = (struct node_rates){.name = name, .module = text(now, "module")};
	node->in = growth(count_sum(now, "in"), count_sum(last, "in"), at->known) / seconds;
	node->out = growth(count_sum(now, "out"), count_sum(last, "out"), at->known) / seconds;
	node->handled = packets / seconds;
	node->dropped =
	    growth(count_sum(now, "dropped"), count_sum(last, "dropped"), at->known) / seconds;
	node->batch = ratio(packets, batches);
	node->cycles = cycles_of(at, now, last);
	node->share = packets > 0    ? ratio(packets * node->cycles, workers_cycles(at, now))
		      : packets == 0 ? 0
				     : NAN;
	if (node->share > 1)
		node->share = 1;
	node->held = count_of(now, "held");
	node->room = count_of(now, "room");
	node->now = now;
	node->last = last;
}

static void nodes_fill(const struct between *at, struct arena *arena, struct rates *rates)
{
	json_t *nodes = json_object_get(at->now, "nodes"), *node;
	const char *name;

	rates->nodes = arena_alloc(arena, (json_object_size(nodes) + 1) * sizeof(*rates->nodes));
	json_object_foreach (nodes, name, node) {
		const json_t *last = json_object_get(json_object_get(at->last, "nodes"), name);
		struct between one = *at;

		// What is new has no past, and neither has another module under the same name.
		if (at->last && (!last || strcmp(text(node, "module"), text(last, "module")) != 0))
			one.known = false;
		node_fill(&one, &rates->nodes[rates->n_nodes++], name, node, last);
	}
}

static void ports_fill(const struct between *at, struct arena *arena, struct rates *rates)
{
	static const char *const faults[] = {"rx_errors", "rx_missed", "rx_no_memory", "tx_errors"};
	json_t *ports = json_object_get(at->now, "ports"), *now;
	const char *name;

	rates->ports = arena_alloc(arena, (json_object_size(ports) + 1) * sizeof(*rates->ports));
	json_object_foreach (ports, name, now) {
		struct port_rates *port = &rates->ports[rates->n_ports++];
		const json_t *last = json_object_get(json_object_get(at->last, "ports"), name);
		double seconds = at->known && (!at->last || last) ? at->seconds : NAN;

		*port =
		    (struct port_rates){.name = name, .driver = text(now, "driver"), .now = now};
		port->rx = rate_of(now, last, "rx_packets", seconds);
		port->rx_bits = 8 * rate_of(now, last, "rx_bytes", seconds);
		port->tx = rate_of(now, last, "tx_packets", seconds);
		port->tx_bits = 8 * rate_of(now, last, "tx_bytes", seconds);
		for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++)
			port->errors += rate_of(now, last, faults[i], seconds);
	}
}

static void workers_fill(const struct between *at, struct arena *arena, struct rates *rates)
{
	const json_t *workers = json_object_get(at->now, "workers"), *now;
	size_t i;

	rates->workers =
	    arena_alloc(arena, (json_array_size(workers) + 1) * sizeof(*rates->workers));
	json_array_foreach (workers, i, now) {
		const json_t *last = json_array_get(json_object_get(at->last, "workers"), i);
		double busy =
		    growth(count_of(now, "busy_cycles"), count_of(last, "busy_cycles"), at->known);
		double idle =
		    growth(count_of(now, "idle_cycles"), count_of(last, "idle_cycles"), at->known);

		rates->workers[rates->n_workers++] =
		    (struct worker_rates){.core = (unsigned)count_of(now, "core"),
					  .busy = ratio(busy, busy + idle),
					  .now = now};
	}
}

struct rates *rates_between(struct arena *arena, const json_t *now, const json_t *last)
{
	struct rates *rates = arena_alloc(arena, sizeof(*rates));
	struct between at = {.now = now, .last = last, .known = !last};

	if (last)
		at.known = rates_comparable(now, last);
	at.seconds = seconds_of(now) - seconds_of(last);
	rates->since_start = !last;
	rates->seconds = at.known ? at.seconds : NAN;
	nodes_fill(&at, arena, rates);
	ports_fill(&at, arena, rates);
	workers_fill(&at, arena, rates);
	return rates;
}

const char *per_s_text(struct arena *arena, double per_s)
{
	return per_s > 0 && isfinite(per_s) ? grid_rate(arena, per_s) : "";
}

const char *drops_text(struct arena *arena, const struct node_rates *node, double seconds)
{
	json_t *dropped = json_object_get(node->now, "dropped"), *value;
	const json_t *last = json_object_get(node->last, "dropped");
	const char *name, *all = "";

	(void)value;
	json_object_foreach (dropped, name, value) {
		const char *rate = isnan(node->dropped)
				       ? ""
				       : per_s_text(arena, rate_of(dropped, last, name, seconds));

		if (*rate)
			all = arena_printf(arena, "%s%s%s %s/s", all, *all ? ", " : "", name, rate);
	}
	return all;
}

static json_t *number_json(double number)
{
	return isfinite(number) ? json_real(number) : json_null();
}

static json_t *node_json(const struct node_rates *node)
{
	return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:I}", "module", node->module,
			 "in_per_s", number_json(node->in), "out_per_s", number_json(node->out),
			 "batch", number_json(node->batch), "cycles_per_packet",
			 number_json(node->cycles), "share", number_json(node->share),
			 "dropped_per_s", number_json(node->dropped), "held",
			 (json_int_t)node->held, "room", (json_int_t)node->room);
}

json_t *rates_json(const struct rates *rates)
{
	json_t *nodes = json_object(), *ports = json_object(), *workers = json_array();

	for (unsigned i = 0; i < rates->n_nodes; i++)
		json_object_set_new(nodes, rates->nodes[i].name, node_json(&rates->nodes[i]));
	for (unsigned i = 0; i < rates->n_ports; i++) {
		const struct port_rates *port = &rates->ports[i];

		json_object_set_new(ports, port->name,
				    json_pack("{s:s, s:o, s:o, s:o, s:o, s:o}", "driver",
					      port->driver, "rx_per_s", number_json(port->rx),
					      "rx_bits_per_s", number_json(port->rx_bits),
					      "tx_per_s", number_json(port->tx), "tx_bits_per_s",
					      number_json(port->tx_bits), "errors_per_s",
					      number_json(port->errors)));
	}
	for (unsigned i = 0; i < rates->n_workers; i++)
		json_array_append_new(workers,
				      json_pack("{s:i, s:o}", "core", (int)rates->workers[i].core,
						"busy", number_json(rates->workers[i].busy)));
	return json_pack("{s:o, s:o, s:o, s:o}", "seconds", number_json(rates->seconds), "nodes",
			 nodes, "ports", ports, "workers", workers);
}
