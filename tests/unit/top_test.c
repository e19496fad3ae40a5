// SPDX-License-Identifier: BSD-3-Clause
// What `sluice top` works out: rates of two samples, the order of rows, the picture's layout.

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/rates.h"
#include "cli/top/layout.h"
#include "cli/top/rows.h"
#include "suite.h"

// A sample of one run at so many seconds; `made` packets so far, 10 cycles each.
static json_t *sample(double seconds, json_int_t made, json_int_t dropped)
{
	return json_pack("{s:f, s:I, s:{s:{s:s, s:[i], s:[], s:[I], s:{}, s:I, s:I, s:I, s:i},"
			 " s:{s:s, s:[i], s:[I], s:[], s:{s:I}, s:I, s:I, s:I, s:i, s:i}},"
			 " s:{s:{s:s, s:I, s:I}}, s:[{s:i, s:I, s:I}]}",
			 "seconds", seconds, "time_ns", (json_int_t)(1000000000000 + seconds * 1e9),
			 "nodes", "make", "module", "Source", "workers", 0, "in", "out", made,
			 "dropped", "batches", made / 32, "cycles", made * 10, "cycles_sampled",
			 made, "held", 0, "q", "module", "Queue", "workers", 0, "in", made, "out",
			 "dropped", "full", dropped, "batches", made / 16, "cycles", made * 40,
			 "cycles_sampled", made, "held", 30, "room", 60, "ports", "left", "driver",
			 "null", "rx_packets", made, "rx_bytes", made * 60, "workers", "core", 1,
			 "busy_cycles", (json_int_t)(seconds * 60000), "idle_cycles",
			 (json_int_t)(seconds * 40000));
}

static void near(double is, double wanted)
{
	CU_ASSERT_DOUBLE_EQUAL(is, wanted, 1e-6 * fabs(wanted) + 1e-9);
}

static void test_rates(void)
{
	json_t *last = sample(10, 3200, 100), *now = sample(12, 6400, 160);
	struct arena *arena = arena_new();
	const struct rates *rates = rates_between(arena, now, last);

	CU_ASSERT_FATAL(rates->n_nodes == 2 && rates->n_ports == 1 && rates->n_workers == 1);
	CU_ASSERT_FALSE(rates->since_start);
	near(rates->seconds, 2);
	near(rates->nodes[0].out, 1600);
	near(rates->nodes[0].handled, 1600);
	near(rates->nodes[0].batch, 32);
	near(rates->nodes[0].cycles, 10);
	near(rates->nodes[0].share, 3200 * 10 / 200000.0);
	near(rates->nodes[0].dropped, 0);
	near(rates->nodes[1].in, 1600);
	near(rates->nodes[1].batch, 16);
	near(rates->nodes[1].share, 3200 * 40 / 200000.0);
	near(rates->nodes[1].dropped, 30);
	CU_ASSERT_EQUAL(rates->nodes[1].held, 30);
	CU_ASSERT_EQUAL(rates->nodes[1].room, 60);
	CU_ASSERT_STRING_EQUAL(drops_text(arena, &rates->nodes[1], 2), "full 30/s");
	near(rates->ports[0].rx, 1600);
	near(rates->ports[0].rx_bits, 1600 * 60 * 8);
	near(rates->workers[0].busy, 0.6);
	json_decref(last);
	json_decref(now);
	arena_free(arena);
}

static void test_since_start(void)
{
	json_t *now = sample(4, 3200, 4);
	struct arena *arena = arena_new();
	const struct rates *rates = rates_between(arena, now, NULL);

	CU_ASSERT(rates->since_start);
	near(rates->nodes[0].out, 800);
	near(rates->nodes[1].dropped, 1);
	near(rates->workers[0].busy, 0.6);
	json_decref(now);
	arena_free(arena);
}

// Nothing is known of the time between: no rate at all, and none that is negative or huge.
static void nothing_known(const json_t *now, const json_t *last)
{
	struct arena *arena = arena_new();
	const struct rates *rates = rates_between(arena, now, last);
	json_t *json = rates_json(rates);

	CU_ASSERT_FALSE(rates_comparable(now, last));
	for (unsigned i = 0; i < rates->n_nodes; i++) {
		CU_ASSERT(isnan(rates->nodes[i].in) && isnan(rates->nodes[i].out));
		CU_ASSERT(isnan(rates->nodes[i].share) && isnan(rates->nodes[i].dropped));
	}
	CU_ASSERT(isnan(rates->ports[0].rx) && isnan(rates->workers[0].busy));
	CU_ASSERT_STRING_EQUAL(per_s_text(arena, rates->nodes[0].out), "");
	CU_ASSERT_STRING_EQUAL(drops_text(arena, &rates->nodes[1], rates->seconds), "");
	CU_ASSERT(json_is_null(json_object_get(json, "seconds")));
	json_decref(json);
	arena_free(arena);
}

static void test_restart(void)
{
	json_t *last = sample(10, 1000000, 100), *again = sample(3, 100, 1);
	json_t *longer = sample(20, 2000000, 500);

	// Its clock has gone back.
	json_object_set_new(again, "time_ns", json_integer(1000000000000 + 12000000000));
	nothing_known(again, last);
	// The new one has run for longer than the old one had, and counted more.
	json_object_set_new(longer, "time_ns", json_integer(1000000000000 + 40000000000));
	nothing_known(longer, last);
	// The same sample twice.
	nothing_known(last, last);
	json_decref(last);
	json_decref(again);
	json_decref(longer);
}

// A node that was replaced by one of another module, and one whose counters begin anew.
static void test_replaced(void)
{
	json_t *last = sample(10, 3200, 100), *now = sample(12, 1600, 100);
	json_t *node = json_object_get(json_object_get(last, "nodes"), "make");
	struct arena *arena = arena_new();
	const struct rates *rates;

	json_object_set_new(node, "module", json_string("PortInc"));
	rates = rates_between(arena, now, last);
	CU_ASSERT(isnan(rates->nodes[0].out) && isnan(rates->nodes[0].share));
	CU_ASSERT(isnan(rates->nodes[1].in));
	near(rates->nodes[1].dropped, 0);
	json_decref(last);
	json_decref(now);
	arena_free(arena);
}

static const char *order(const struct rates *rates, const char *filter, enum top_column column,
			 bool reverse)
{
	static char text[64];
	const struct node_rates *rows[8];
	unsigned n = rows_choose(rates, filter, column, reverse, rows);

	text[0] = '\0';
	for (unsigned i = 0; i < n; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s ", rows[i]->name);
	return text;
}

static void test_rows(void)
{
	struct node_rates nodes[] = {
	    {.name = "b", .module = "Sink", .share = 0.5, .in = NAN},
	    {.name = "a", .module = "Source", .share = 0.5, .in = 1},
	    {.name = "c", .module = "Queue", .share = NAN, .in = 3, .held = 1, .room = 4},
	};
	const struct rates rates = {.nodes = nodes, .n_nodes = 3};
	struct arena *arena = arena_new();

	CU_ASSERT_STRING_EQUAL(order(&rates, "", COLUMN_NODE, false), "a b c ");
	CU_ASSERT_STRING_EQUAL(order(&rates, "", COLUMN_NODE, true), "c b a ");
	CU_ASSERT_STRING_EQUAL(order(&rates, "", COLUMN_MODULE, false), "c b a ");
	CU_ASSERT_STRING_EQUAL(order(&rates, "", COLUMN_SHARE, false), "a b c ");
	CU_ASSERT_STRING_EQUAL(order(&rates, "", COLUMN_SHARE, true), "a b c ");
	CU_ASSERT_STRING_EQUAL(order(&rates, "", COLUMN_IN, false), "c a b ");
	CU_ASSERT_STRING_EQUAL(order(&rates, "", COLUMN_IN, true), "a c b ");
	CU_ASSERT_STRING_EQUAL(order(&rates, "", COLUMN_FILL, true), "c a b ");
	CU_ASSERT_STRING_EQUAL(order(&rates, "S", COLUMN_NODE, false), "a b ");
	CU_ASSERT_STRING_EQUAL(order(&rates, "none", COLUMN_NODE, false), "");
	CU_ASSERT_STRING_EQUAL(row_text(arena, &rates, &nodes[2], COLUMN_FILL), "25 %");
	CU_ASSERT_STRING_EQUAL(row_text(arena, &rates, &nodes[2], COLUMN_SHARE), "");
	CU_ASSERT_STRING_EQUAL(percent_text(arena, 0.001), "<1 %");
	CU_ASSERT_STRING_EQUAL(percent_text(arena, 0), "0 %");
	arena_free(arena);
}

static json_t *link_json(const char *from, const char *to, int ogate, bool back)
{
	return json_pack("{s:s, s:i, s:n, s:s, s:b}", "from", from, "ogate", ogate, "ogate_name",
			 "to", to, "back", back);
}

// Boxes lie apart, and each way goes down from a box to another one, and through none.
static void layout_check(const struct layout *layout)
{
	for (unsigned i = 0; i < layout->n_boxes; i++)
		for (unsigned k = 0; k < i; k++) {
			const struct layout_box *a = &layout->boxes[i], *b = &layout->boxes[k];

			CU_ASSERT(a->y + BOX_LINES <= b->y || b->y + BOX_LINES <= a->y ||
				  a->x + a->width <= b->x || b->x + b->width <= a->x);
		}
	for (unsigned i = 0; i < layout->n_ways; i++) {
		const struct layout_way *way = &layout->ways[i];
		const struct layout_box *from = &layout->boxes[way->from];
		const struct layout_box *to = &layout->boxes[way->to];

		CU_ASSERT_FATAL(way->n == to->layer - from->layer);
		CU_ASSERT(way->x[0] > from->x && way->x[0] < from->x + from->width - 1);
		CU_ASSERT(way->x[way->n] > to->x && way->x[way->n] < to->x + to->width - 1);
		CU_ASSERT(way->y[0] == from->y + BOX_LINES && way->y[way->n + 1] == to->y - 1);
		for (unsigned p = 0; p < way->n; p++)
			CU_ASSERT(way->y[p] < way->y[p + 1]);
		for (unsigned p = 1; p < way->n; p++)
			for (unsigned b = 0; b < layout->n_boxes; b++)
				CU_ASSERT(layout->boxes[b].layer != from->layer + p ||
					  way->x[p] < layout->boxes[b].x ||
					  way->x[p] >= layout->boxes[b].x + layout->boxes[b].width);
	}
}

static void test_layout(void)
{
	static const char *const names[] = {"rx", "two", "fwd", "swap", "left", "q", "alone"};
	struct arena *arena = arena_new();
	json_t *links = json_array();
	const struct layout *layout;

	json_array_append_new(links, link_json("rx", "two", 0, false));
	json_array_append_new(links, link_json("two", "fwd", 0, false));
	json_array_append_new(links, link_json("two", "q", 1, false));
	json_array_append_new(links, link_json("two", "left", 2, false));
	json_array_append_new(links, link_json("fwd", "swap", 0, false));
	json_array_append_new(links, link_json("swap", "left", 0, false));
	json_array_append_new(links, link_json("q", "left", 0, false));
	json_array_append_new(links, link_json("swap", "two", 1, true));
	layout = layout_make(arena, names, 7, links);
	CU_ASSERT_EQUAL(layout->n_layers, 5);
	CU_ASSERT_EQUAL(layout->boxes[4].layer, 4);
	CU_ASSERT_EQUAL(layout->boxes[6].layer, 0);
	CU_ASSERT_EQUAL(layout->n_ways, 7);
	CU_ASSERT_STRING_EQUAL(layout->boxes[3].back, "two");
	CU_ASSERT_STRING_EQUAL(layout->ways[2].label, "1");
	layout_check(layout);
	json_decref(links);
	layout = layout_make(arena, names, 0, NULL);
	CU_ASSERT(!layout->n_boxes && !layout->height);
	arena_free(arena);
}

// Loops that nobody has marked, links from and to nowhere, to itself: no end, no crash.
static void test_layout_odd(void)
{
	static const char *const names[] = {"a", "b", "c"};
	struct arena *arena = arena_new();
	json_t *links = json_array();

	json_array_append_new(links, link_json("a", "b", 0, false));
	json_array_append_new(links, link_json("b", "c", 0, false));
	json_array_append_new(links, link_json("c", "a", 0, false));
	json_array_append_new(links, link_json("c", "c", 1, false));
	json_array_append_new(links, link_json("gone", "a", 0, false));
	json_array_append_new(links, json_object());
	layout_check(layout_make(arena, names, 3, links));
	json_decref(links);
	arena_free(arena);
}

static void test_layout_many(void)
{
	const unsigned n = 200;
	struct arena *arena = arena_new();
	const char **names = arena_alloc(arena, n * sizeof(*names));
	json_t *links = json_array();
	unsigned random = 7;

	for (unsigned i = 0; i < n; i++) {
		names[i] = arena_printf(arena, "node%u", i);
		for (unsigned k = 0; k < 2 && i; k++) {
			random = random * 1103515245 + 12345;
			json_array_append_new(
			    links, link_json(names[i - 1 - (random >> 16) % (i < 8 ? i : 8)],
					     names[i], (int)k, false));
		}
	}
	layout_check(layout_make(arena, names, n, links));
	json_decref(links);
	arena_free(arena);
}

static const CU_TestInfo cases[] = {
    {"rates of two samples", test_rates},
    {"one sample: since the start", test_since_start},
    {"another run is no rate", test_restart},
    {"what was replaced is no rate", test_replaced},
    {"rows: order, filter, texts", test_rows},
    {"layout", test_layout},
    {"layout of what is odd", test_layout_odd},
    {"layout of 200 nodes", test_layout_many},
    CU_TEST_INFO_NULL,
};
SUITE(top, cases)
