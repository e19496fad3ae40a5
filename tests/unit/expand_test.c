// SPDX-License-Identifier: BSD-3-Clause
// Vars: what they become, where, and every fault of them.

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "suite.h"
#include "value/value.h"

// Expands `text`, whose member `vars` are the vars, and compares what `nodes` became, as YAML.
static void expect_tree(const char *text, const char *want, const char *faults)
{
	struct errors *errors = errors_new();
	struct arena *arena = arena_new();
	struct value *tree = yaml_read_text(arena, "g.yaml", text, strlen(text), errors);
	int rc = value_expand(arena, tree, value_get(tree, "vars"), errors);
	char *told = errors_text(errors);

	if (strcmp(told, faults))
		printf("\ngot:  %swant: %s", told, faults);
	CU_ASSERT_STRING_EQUAL(told, faults);
	CU_ASSERT_EQUAL(rc, *faults ? -1 : 0);
	if (want) {
		char *got = NULL;
		size_t length;
		FILE *to = open_memstream(&got, &length);

		value_write_yaml(value_get(tree, "nodes"), to);
		fclose(to);
		if (strcmp(got, want))
			printf("\ngot:  %swant: %s", got, want);
		CU_ASSERT_STRING_EQUAL(got, want);
		free(got);
	}
	free(told);
	arena_free(arena);
	errors_free(errors);
}

static void test_texts(void)
{
	expect_tree("vars: {in: web, n: 3}\n"
		    "nodes:\n"
		    "  - $in.pcap\n"
		    "  - ${in}_$n\n"
		    "  - a$in$n\n"
		    "  - $$in costs $$5\n"
		    "  - $$\n"
		    "  - plain\n"
		    "  - 'quoted $in'\n"
		    "  - $${in}\n",
		    "- web.pcap\n"
		    "- web_3\n"
		    "- aweb3\n"
		    "- $in costs $5\n"
		    "- $\n"
		    "- plain\n"
		    "- quoted web\n"
		    "- ${in}\n",
		    "");
}

static void test_wholes(void)
{
	expect_tree("vars: {l: [1, {a: b}], m: {x: y}, s: '5', none: }\n"
		    "nodes:\n"
		    "  - $l\n"
		    "  - {deep: {deeper: $m}}\n"
		    "  - ${s}\n"
		    "  - $none\n",
		    "- - 1\n"
		    "  - {a: b}\n"
		    "- deep: {deeper: {x: y}}\n"
		    "- \"5\"\n"
		    "- ~\n",
		    "");
}

static void test_vars_of_vars(void)
{
	// In any order, and a dollar sign that is written doubled stays one.
	expect_tree("vars: {c: $b$b, b: $a-, a: x, d: [$c, $$a], e: $d, money: $$a}\n"
		    "nodes:\n"
		    "  - $c\n"
		    "  - $e\n"
		    "  - $money\n"
		    "  - ${money}!\n",
		    "- x-x-\n"
		    "- - x-x-\n"
		    "  - $a\n"
		    "- $a\n"
		    "- $a!\n",
		    "");
}

static void test_copies(void)
{
	static const char text[] = "vars: {m: {x: y}}\nnodes: [$m, $m]\n";
	struct errors *errors = errors_new();
	struct arena *arena = arena_new();
	struct value *tree = yaml_read_text(arena, "g.yaml", text, strlen(text), errors);
	struct value *vars = value_get(tree, "vars"), *nodes = value_get(tree, "nodes");

	CU_ASSERT_EQUAL(value_expand(arena, tree, vars, errors), 0);
	CU_ASSERT_PTR_NOT_EQUAL(value_get(nodes->items[0], "x"), value_get(nodes->items[1], "x"));
	// Its own place outside, that of the var inside.
	CU_ASSERT_EQUAL(nodes->items[1]->place.line, 2);
	CU_ASSERT_EQUAL(nodes->items[1]->place.col, 13);
	CU_ASSERT_EQUAL(value_get(nodes->items[1], "x")->place.line, 1);
	CU_ASSERT_EQUAL(value_get(nodes->items[1], "x")->place.col, 15);
	// The vars may serve another tree.
	CU_ASSERT_STRING_EQUAL(value_get(value_get(vars, "m"), "x")->text, "y");
	arena_free(arena);
	errors_free(errors);
}

static void test_alias_with_vars(void)
{
	expect_tree("vars: {a: 1}\n"
		    "nodes: [&x {p: $a$$, q: $$$$}, *x]\n",
		    "- p: 1$\n  q: $$\n- p: 1$\n  q: $$\n", "");
}

static void test_no_vars(void)
{
	expect_tree("nodes: [a, $$b]\n", "- a\n- $b\n", "");
	expect_tree("nodes: [$b]\n", NULL,
		    "g.yaml:1:9: error: there is no var \"b\", it should have a value under "
		    "\"vars\" (and $$ is a dollar sign)\n");
	expect_tree("vars: [b]\nnodes: [a]\n", "- a\n", "");
	CU_ASSERT_EQUAL(value_expand(NULL, NULL, NULL, NULL), 0);
}

static void test_unknown(void)
{
	expect_tree("vars: {input: x}\n"
		    "nodes: [$inptu, 'a${inputs}b$nothing', $input]\n",
		    NULL,
		    "g.yaml:2:9: error: there is no var \"inptu\", did you mean \"input\"?\n"
		    "g.yaml:2:17: error: there is no var \"inputs\", did you mean \"input\"?\n"
		    "g.yaml:2:17: error: there is no var \"nothing\", it should have a value under "
		    "\"vars\" (and $$ is a dollar sign)\n");
}

static void test_lone_dollar(void)
{
	const char *fault = "a \"$\" without a name, it should be $name, ${name}, or $$ for a "
			    "dollar sign";
	char want[400];

	snprintf(want, sizeof(want),
		 "g.yaml:1:9: error: %s\ng.yaml:1:12: error: %s\ng.yaml:1:16: error: %s\n"
		 "g.yaml:1:23: error: %s\n",
		 fault, fault, fault, fault);
	expect_tree("nodes: [$, $5, '${}', '${a', $$]\n", NULL, want);
}

static void test_cycles(void)
{
	expect_tree(
	    "vars:\n"
	    "  a: $b\n"
	    "  b: x$c\n"
	    "  c: [$b]\n"
	    "  self: $self\n"
	    "nodes: [$a, $b]\n",
	    NULL,
	    "g.yaml:3:6: error: the var \"b\" refers to itself (b -> c -> b), it should "
	    "have a value of its own\n"
	    "g.yaml:5:9: error: the var \"self\" refers to itself (self -> self), it should "
	    "have a value of its own\n");
}

static void test_no_text(void)
{
	expect_tree("vars: {l: [], m: {}, n: }\n"
		    "nodes: [a$l, a$m, a$n]\n",
		    NULL,
		    "g.yaml:2:9: error: the var \"l\" is a list, it should be a text inside a "
		    "longer one\n"
		    "g.yaml:2:14: error: the var \"m\" is a map, it should be a text inside a "
		    "longer one\n"
		    "g.yaml:2:19: error: the var \"n\" has no value, it should be a text inside a "
		    "longer one\n");
}

// Each var is ten times the one before.
static char *bomb(const char *form)
{
	struct arena *arena = arena_new();
	const char *text = "vars:\n  v0: xxxxxxxxxx\n";
	char *all;

	for (unsigned i = 1; i < 10; i++) {
		text = arena_printf(arena, "%s  v%u: %.1s", text, i, form);
		for (unsigned j = 0; j < 10; j++)
			text = arena_printf(arena, "%s$v%u%.1s", text, i - 1, form + 1);
		text = arena_printf(arena, "%s%s\n", text, form + 2);
	}
	all = strdup(arena_printf(arena, "%snodes: $v9\n", text));
	arena_free(arena);
	return all;
}

static void test_bombs(void)
{
	const char *fault = "the vars grow to more than 1000000 values or 16 MiB of text, they "
			    "should be used less often";
	char *texts = bomb("\" \""), *lists = bomb("[,]");
	char want[300];

	snprintf(want, sizeof(want), "g.yaml:9:7: error: %s\n", fault);
	expect_tree(texts, NULL, want);
	snprintf(want, sizeof(want), "g.yaml:8:36: error: %s\n", fault);
	expect_tree(lists, NULL, want);
	free(texts);
	free(lists);
}

static const CU_TestInfo cases[] = {
    {"names inside texts", test_texts},
    {"whole values", test_wholes},
    {"vars of vars", test_vars_of_vars},
    {"copies and places", test_copies},
    {"aliases with vars", test_alias_with_vars},
    {"no vars", test_no_vars},
    {"unknown names", test_unknown},
    {"a dollar sign alone", test_lone_dollar},
    {"cycles", test_cycles},
    {"lists and maps inside a text", test_no_text},
    {"vars that grow without end", test_bombs},
    CU_TEST_INFO_NULL,
};
SUITE(expand, cases)
