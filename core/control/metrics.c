// SPDX-License-Identifier: BSD-3-Clause
// All counters for Prometheus: its text format 0.0.4, or OpenMetrics 1.0 where the client asks for
// it (https://prometheus.io/docs/instrumenting/exposition_formats/). One row of a table is one
// metric: its name, unit and help stand there and nowhere else.

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "control/route.h"

struct page {
	FILE *to;
	struct run *run;
	bool open_metrics;
};

// Label values: backslash, quote and newline are escaped.
static void label_write(FILE *to, const char *text)
{
	for (; *text; text++) {
		if (*text == '\\' || *text == '"')
			fputc('\\', to);
		if (*text == '\n')
			fputs("\\n", to);
		else
			fputc(*text, to);
	}
}

static void labels_write(FILE *to, const char *const pairs[])
{
	for (unsigned i = 0; pairs[i]; i += 2) {
		fprintf(to, "%c%s=\"", i ? ',' : '{', pairs[i]);
		label_write(to, pairs[i + 1]);
		fputc('"', to);
	}
	if (pairs[0])
		fputc('}', to);
}

// Counters end in _total; OpenMetrics names the family without it.
static void family_begin(struct page *page, const char *name, bool gauge, const char *help)
{
	const char *end = gauge || page->open_metrics ? "" : "_total";

	fprintf(page->to, "# HELP sluice_%s%s %s\n", name, end, help);
	fprintf(page->to, "# TYPE sluice_%s%s %s\n", name, end, gauge ? "gauge" : "counter");
}

static void sample(struct page *page, const char *name, bool gauge, const char *const pairs[],
		   uint64_t value)
{
	fprintf(page->to, "sluice_%s%s", name, gauge ? "" : "_total");
	labels_write(page->to, pairs);
	fprintf(page->to, " %" PRIu64 "\n", value);
}

#define NODE_FIELD(FIELD) offsetof(struct node_counts, FIELD)

static const struct {
	const char *name;
	const char *help;
	size_t offset;
	bool gauge;
} node_rows[] = {
    {"node_made_packets", "Packets that the node brought into the graph.", NODE_FIELD(made), false},
    {"node_consumed_packets", "Packets that left the graph at the node as meant.",
     NODE_FIELD(consumed), false},
    {"node_held_packets", "Packets that the node holds now.", NODE_FIELD(held), true},
    {"node_batches", "Batches that came to the node.", NODE_FIELD(in_batches), false},
    {"node_sampled_cycles", "Time stamp cycles of the calls that were watched.", NODE_FIELD(cycles),
     false},
    {"node_sampled_packets", "Packets of the calls that were watched.", NODE_FIELD(cycles_sampled),
     false},
};

static uint64_t count_at(const void *counts, size_t offset)
{
	return *(const uint64_t *)((const uint8_t *)counts + offset);
}

static void nodes_plain(struct page *page, const struct node_counts *counts)
{
	const struct graph *graph = run_graph(page->run);

	for (size_t row = 0; row < sizeof(node_rows) / sizeof(*node_rows); row++) {
		family_begin(page, node_rows[row].name, node_rows[row].gauge, node_rows[row].help);
		for (unsigned i = 0; i < graph->n_nodes; i++) {
			const char *const labels[] = {"node", graph->nodes[i].name, "module",
						      graph->nodes[i].type->name, NULL};

			sample(page, node_rows[row].name, node_rows[row].gauge, labels,
			       count_at(&counts[i], node_rows[row].offset));
		}
	}
}

static void nodes_gates(struct page *page, const struct node_counts *counts, bool output)
{
	const struct graph *graph = run_graph(page->run);
	const char *name = output ? "node_out_packets" : "node_in_packets";

	family_begin(page, name, false,
		     output ? "Packets that left the node by an output gate."
			    : "Packets that came to the node by an input gate.");
	for (unsigned i = 0; i < graph->n_nodes; i++) {
		const struct graph_node *node = &graph->nodes[i];

		for (unsigned gate = 0; gate < (output ? node->ogates : node->igates); gate++) {
			char number[12];
			const char *const labels[] = {
			    "node", node->name, "module", node->type->name, "gate", number, NULL};

			snprintf(number, sizeof(number), "%u", gate);
			sample(page, name, false, labels,
			       output ? counts[i].out[gate] : counts[i].in[gate]);
		}
	}
}

static void nodes_dropped(struct page *page, const struct node_counts *counts)
{
	const struct graph *graph = run_graph(page->run);

	family_begin(page, "node_dropped_packets", false, "Packets that the node dropped.");
	for (unsigned i = 0; i < graph->n_nodes; i++) {
		const struct graph_node *node = &graph->nodes[i];

		for (unsigned reason = 0; reason < reason_count(node->type); reason++) {
			const char *const labels[] = {
			    "node",   node->name,
			    "module", node->type->name,
			    "reason", reason_name(node->type, (reason_t)reason),
			    NULL};

			sample(page, "node_dropped_packets", false, labels,
			       counts[i].dropped[reason]);
		}
	}
}

static void nodes_own(struct page *page, const struct node_counts *counts)
{
	const struct graph *graph = run_graph(page->run);

	family_begin(page, "node_module_events", false, "What the node's own module counts.");
	for (unsigned i = 0; i < graph->n_nodes; i++) {
		const struct graph_node *node = &graph->nodes[i];
		const struct counter *own = node->type->counters;

		for (unsigned k = 0; own && own[k].name; k++) {
			const char *const labels[] = {
			    "node",    node->name,  "module", node->type->name,
			    "counter", own[k].name, NULL};

			sample(page, "node_module_events", false, labels, counts[i].own[k]);
		}
	}
}

#define PORT_FIELD(FIELD) offsetof(struct port_counters, FIELD)

static const struct {
	const char *name;
	const char *help;
	size_t offset;
} port_rows[] = {
    {"port_receive_packets", "Packets received.", PORT_FIELD(rx_packets)},
    {"port_receive_bytes", "Bytes received, without FCS.", PORT_FIELD(rx_bytes)},
    {"port_transmit_packets", "Packets sent.", PORT_FIELD(tx_packets)},
    {"port_transmit_bytes", "Bytes sent, without FCS.", PORT_FIELD(tx_bytes)},
    {"port_receive_errors", "Packets that could not be received whole.", PORT_FIELD(rx_errors)},
    {"port_receive_missed_packets", "Packets that the device had no room for.",
     PORT_FIELD(rx_missed)},
    {"port_receive_no_memory_packets", "Packets that no buffer was free for.",
     PORT_FIELD(rx_no_memory)},
    {"port_transmit_errors", "Packets that were taken, but not sent.", PORT_FIELD(tx_errors)},
};

static void ports_write(struct page *page)
{
	const struct graph *graph = run_graph(page->run);

	for (size_t row = 0; graph->n_ports && row < sizeof(port_rows) / sizeof(*port_rows);
	     row++) {
		family_begin(page, port_rows[row].name, false, port_rows[row].help);
		for (unsigned i = 0; i < graph->n_ports; i++) {
			const char *const labels[] = {"port", graph->ports[i].name, "driver",
						      graph->ports[i].driver->name, NULL};
			struct port_counters counters;

			run_port_counts(page->run, i, &counters);
			sample(page, port_rows[row].name, false, labels,
			       count_at(&counters, port_rows[row].offset));
		}
	}
}

#define WORKER_FIELD(FIELD) offsetof(struct worker_counts, FIELD)

static const struct {
	const char *name;
	const char *help;
	size_t offset;
} worker_rows[] = {
    {"worker_polls", "Polls of sources.", WORKER_FIELD(polls)},
    {"worker_busy_cycles", "Time stamp cycles with packets.", WORKER_FIELD(busy_cycles)},
    {"worker_idle_cycles", "Time stamp cycles without packets.", WORKER_FIELD(idle_cycles)},
    {"worker_parks", "Stops for commands and changes.", WORKER_FIELD(parks)},
    {"worker_parked_cycles", "Time stamp cycles at a stop.", WORKER_FIELD(parked_cycles)},
};

static void workers_write(struct page *page)
{
	for (size_t row = 0; row < sizeof(worker_rows) / sizeof(*worker_rows); row++) {
		family_begin(page, worker_rows[row].name, false, worker_rows[row].help);
		for (unsigned i = 0; i < run_workers(page->run); i++) {
			struct worker_counts counts;
			char number[12], core[12];
			const char *const labels[] = {"worker", number, "core", core, NULL};

			run_worker_counts(page->run, i, &counts);
			snprintf(number, sizeof(number), "%u", i);
			snprintf(core, sizeof(core), "%d", counts.core);
			sample(page, worker_rows[row].name, false, labels,
			       count_at(&counts, worker_rows[row].offset));
		}
	}
}

static void page_write(struct page *page)
{
	unsigned n = run_graph(page->run)->n_nodes;
	struct node_counts *counts = memory_new(n + 1, sizeof(*counts));
	const char *const none[] = {NULL};

	for (unsigned i = 0; i < n; i++)
		run_node_counts(page->run, i, &counts[i]);
	family_begin(page, "run_seconds", false, "Time since the graph was started.");
	fprintf(page->to, "sluice_run_seconds_total %.9f\n", (double)run_time_ns(page->run) / 1e9);
	family_begin(page, "faults", false, "Faults of the run.");
	sample(page, "faults", false, none, run_faults(page->run));
	nodes_plain(page, counts);
	nodes_gates(page, counts, false);
	nodes_gates(page, counts, true);
	nodes_dropped(page, counts);
	nodes_own(page, counts);
	ports_write(page);
	workers_write(page);
	if (page->open_metrics)
		fputs("# EOF\n", page->to);
	free(counts);
}

void serve_metrics(const struct request *request, struct answer *answer)
{
	const char *accept = request->header(request, "Accept");
	struct page page = {.run = request->run};
	size_t n = 0;

	page.open_metrics = accept && strstr(accept, "application/openmetrics-text");
	page.to = open_memstream(&answer->text, &n);
	if (!page.to)
		return;
	page_write(&page);
	fclose(page.to);
	answer->type = page.open_metrics
			   ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
			   : "text/plain; version=0.0.4; charset=utf-8";
}
