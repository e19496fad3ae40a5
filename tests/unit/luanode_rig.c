// SPDX-License-Identifier: BSD-3-Clause
// Graphs around a script (luanode_rig.h).

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "luanode_rig.h"
#include "suite.h"

const char luanode_packets[] = "\"ether / ipv4 src=10.0.0.1 / udp dport=53 / pad 90\", "
			       "\"ether / vlan id=7 / ipv6 / tcp dport=80\", "
			       "\"ether / ipv4 ttl=1 / icmp\", "
			       "\"ether / arp\", "
			       "\"ether / ipv4 / udp / pad 9000\", "
			       "\"02 00 00 00 00 02 02 00 00 00 00 01 08 00\"";

char *luanode_text(unsigned burst, const char *params, const char *packets, unsigned count,
		   const char *script)
{
	char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	fprintf(out,
		"burst: %u\n"
		"nodes:\n  make: {Source: {count: %u, templates: [%s]}}\n"
		"  lua:\n    LuaNode:\n      %s\n      code: |\n",
		burst, count, packets, params);
	for (const char *at = script; *at;) {
		size_t line = strcspn(at, "\n");

		fprintf(out, "        %.*s\n", (int)line, at);
		at += line + (at[line] == '\n');
	}
	fprintf(out, "  one: Sink\n  two: Sink\n"
		     "graph:\n  - make -> [0]lua[0] -> one\n  - lua[1] -> two\n");
	fclose(out);
	return text;
}

struct run *luanode_open_run(const char *params, const char *packets, unsigned count,
			     const char *script)
{
	char *text = luanode_text(LUANODE_BURST, params, packets, count, script);
	struct run *run = flow_open(text, true);

	free(text);
	return run;
}

struct luanode *luanode_script_of(struct run *run)
{
	return node_local(run_node(run, (unsigned)graph_find_node(run_graph(run), "lua")), 0);
}

void luanode_counts_expect(struct run *run, uint64_t one, uint64_t two, const char *reason,
			   uint64_t dropped)
{
	CU_ASSERT_EQUAL(flow_counts(run, "one").consumed, one);
	CU_ASSERT_EQUAL(flow_counts(run, "two").consumed, two);
	if (reason)
		CU_ASSERT_EQUAL(flow_dropped(run, "lua", reason), dropped);
}

void luanode_call_expect(struct run *run, const char *args, const char *expected)
{
	char *text = flow_call(run, "lua", "call", args);

	if (!strstr(text, expected)) {
		fprintf(stderr, "%s: %s\n", args, text);
		CU_FAIL("another answer");
	}
	free(text);
}
