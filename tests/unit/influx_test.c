// SPDX-License-Identifier: BSD-3-Clause
// The line protocol of InfluxDB: what is escaped, what is left out, and lines of counters.

#include <stdlib.h>
#include <string.h>

#include "control/influx.h"
#include "suite.h"

// What a line with this tag and text comes to.
static char *line_of(const char *tag, const char *value, const char *text)
{
	const char *const tags[] = {tag, value, NULL};
	struct influx_line line;
	char *lines = NULL;
	size_t n;
	FILE *to = open_memstream(&lines, &n);

	influx_begin(&line, to, "m", tags);
	influx_text(&line, "f", text);
	influx_end(&line, 7);
	fclose(to);
	return lines;
}

static void line_is(const char *tag, const char *value, const char *text, const char *wanted)
{
	char *line = line_of(tag, value, text);

	CU_ASSERT_STRING_EQUAL(line, wanted);
	free(line);
}

static void names_are_escaped(void)
{
	line_is("t", "plain", "x", "m,t=plain f=\"x\" 7\n");
	line_is("t", "a b,c=d", "x", "m,t=a\\ b\\,c\\=d f=\"x\" 7\n");
	line_is("a b", "MACSwap#1", "x", "m,a\\ b=MACSwap#1 f=\"x\" 7\n");
	line_is("t", "\"quoted\"", "x", "m,t=\"quoted\" f=\"x\" 7\n");
	line_is("t", "größe 值", "x", "m,t=größe\\ 值 f=\"x\" 7\n");
}

// A backslash at the end would take the comma behind it; a line feed would end the line.
static void what_cannot_be_written_is_replaced(void)
{
	line_is("t", "a\\", "x", "m,t=a_ f=\"x\" 7\n");
	line_is("t", "a\\,b\nc\td", "x", "m,t=a_\\,b_c_d f=\"x\" 7\n");
}

static void texts_are_escaped(void)
{
	line_is("t", "v", "a \"b\" \\ c,d=e", "m,t=v f=\"a \\\"b\\\" \\\\ c,d=e\" 7\n");
	line_is("t", "v", "größe\n", "m,t=v f=\"größe\n\" 7\n");
}

static void nothing_is_left_out(void)
{
	static const char *const tags[] = {"t", "v", NULL};
	struct influx_line line;
	char *lines = NULL;
	size_t n;
	FILE *to;

	line_is("t", "", "x", "m f=\"x\" 7\n");
	to = open_memstream(&lines, &n);
	influx_begin(&line, to, "m", tags);
	influx_end(&line, 7);
	influx_begin(&line, to, "m", tags);
	influx_integer(&line, "i", INT64_MAX);
	influx_real(&line, "r", 0.25);
	influx_end(&line, UINT64_MAX);
	fclose(to);
	CU_ASSERT_STRING_EQUAL(lines, "m,t=v i=9223372036854775807i,r=0.25 18446744073709551615\n");
	free(lines);
}

static void counters_become_lines(void)
{
	static const char stats[] =
	    "{\"time_ns\": 5, \"seconds\": 2.5, \"nodes\": {\"q\": {\"module\": \"Queue\", \"in\": "
	    "[1, 2], \"out\": [3], \"made\": 0, \"consumed\": 4, \"held\": 5, \"dropped\": "
	    "{\"full\": 6}, \"batches\": 7, \"cycles\": 8, \"cycles_sampled\": 9, \"counters\": "
	    "{\"moved\": 1}}}, \"ports\": {\"a\": {\"driver\": \"ring\", \"rx_packets\": 1}}, "
	    "\"workers\": [{\"core\": 3, \"polls\": 1, \"busy_cycles\": 2, \"idle_cycles\": 3}]}";
	json_t *root = json_loads(stats, 0, NULL);
	char *lines = NULL;
	size_t n;
	FILE *to = open_memstream(&lines, &n);

	CU_ASSERT_PTR_NOT_NULL_FATAL(root);
	influx_lines(root, "web", to);
	fclose(to);
	CU_ASSERT_STRING_EQUAL(
	    lines,
	    "sluice_run,instance=web seconds=2.5 5\n"
	    "sluice_node,instance=web,node=q,module=Queue in_packets=3i,out_packets=3i,"
	    "dropped_packets=6i,made_packets=0i,consumed_packets=4i,held_packets=5i,batches=7i,"
	    "sampled_cycles=8i,sampled_packets=9i 5\n"
	    "sluice_events,instance=web,node=q,module=Queue moved=1i 5\n"
	    "sluice_gate,instance=web,node=q,module=Queue,gate=0,direction=in packets=1i 5\n"
	    "sluice_gate,instance=web,node=q,module=Queue,gate=1,direction=in packets=2i 5\n"
	    "sluice_gate,instance=web,node=q,module=Queue,gate=0,direction=out packets=3i 5\n"
	    "sluice_drops,instance=web,node=q,module=Queue,reason=full packets=6i 5\n"
	    "sluice_port,instance=web,port=a,driver=ring rx_packets=1i 5\n"
	    "sluice_worker,instance=web,worker=0,core=3 polls=1i,busy_cycles=2i,idle_cycles=3i "
	    "5\n");
	free(lines);
	json_decref(root);
}

static const CU_TestInfo influx_cases[] = {
    {"names and tags are escaped", names_are_escaped},
    {"what cannot be written is replaced", what_cannot_be_written_is_replaced},
    {"texts are escaped", texts_are_escaped},
    {"tags and lines of nothing are left out", nothing_is_left_out},
    {"counters become lines", counters_become_lines},
    CU_TEST_INFO_NULL,
};

SUITE(influx, influx_cases)
