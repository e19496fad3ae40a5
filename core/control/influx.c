// SPDX-License-Identifier: BSD-3-Clause
// Counters as lines: https://docs.influxdata.com/influxdb/v1/write_protocols/line_protocol_tutorial

#include "control/influx.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// Tags, and names of fields: comma, equals sign and blank are escaped. There is no way to write a
// control character, nor a backslash that is no escape: a `_` stands for them.
static void name_write(FILE *to, const char *text)
{
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (strchr(",= ", c))
			fputc('\\', to);
		fputc(c < 0x20 || c == 0x7f || c == '\\' ? '_' : c, to);
	}
}

void influx_begin(struct influx_line *line, FILE *to, const char *measurement,
		  const char *const tags[])
{
	size_t n;
	FILE *text;

	*line = (struct influx_line){.to = to, .measurement = measurement};
	text = open_memstream(&line->tags, &n);
	for (unsigned i = 0; text && tags[i]; i += 2) {
		if (!*tags[i + 1])
			continue;
		fputc(',', text);
		name_write(text, tags[i]);
		fputc('=', text);
		name_write(text, tags[i + 1]);
	}
	if (text)
		fclose(text);
}

static void field_begin(struct influx_line *line, const char *name)
{
	if (line->fields)
		fputc(',', line->to);
	else
		fprintf(line->to, "%s%s ", line->measurement, line->tags ? line->tags : "");
	line->fields = true;
	name_write(line->to, name);
	fputc('=', line->to);
}

void influx_integer(struct influx_line *line, const char *name, json_int_t value)
{
	field_begin(line, name);
	fprintf(line->to, "%" JSON_INTEGER_FORMAT "i", value);
}

void influx_real(struct influx_line *line, const char *name, double value)
{
	field_begin(line, name);
	fprintf(line->to, "%.9g", value);
}

void influx_text(struct influx_line *line, const char *name, const char *value)
{
	field_begin(line, name);
	fputc('"', line->to);
	for (; *value; value++) {
		if (*value == '"' || *value == '\\')
			fputc('\\', line->to);
		fputc(*value, line->to);
	}
	fputc('"', line->to);
}

void influx_end(struct influx_line *line, uint64_t time_ns)
{
	if (line->fields)
		fprintf(line->to, " %" PRIu64 "\n", time_ns);
	free(line->tags);
}

struct lines {
	FILE *to;
	const char *instance;
	uint64_t time_ns;
};

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

static json_int_t sum_of(const json_t *list)
{
	json_int_t sum = 0;
	const json_t *item;
	size_t i;

	json_array_foreach (list, i, item)
		sum += json_integer_value(item);
	return sum;
}

static void numbers(struct influx_line *line, json_t *object)
{
	const char *key;
	json_t *value;

	json_object_foreach (object, key, value)
		if (json_is_integer(value))
			influx_integer(line, key, json_integer_value(value));
}

static void node_gates(const struct lines *at, const char *node, const char *module,
		       const char *direction, const json_t *gates)
{
	const json_t *packets;
	size_t i;

	json_array_foreach (gates, i, packets) {
		char number[24];
		const char *const tags[] = {"instance",	 at->instance, "node", node,
					    "module",	 module,       "gate", number,
					    "direction", direction,    NULL};
		struct influx_line line;

		snprintf(number, sizeof(number), "%zu", i);
		influx_begin(&line, at->to, "sluice_gate", tags);
		influx_integer(&line, "packets", json_integer_value(packets));
		influx_end(&line, at->time_ns);
	}
}

static void node_dropped(const struct lines *at, const char *node, const char *module,
			 json_t *dropped)
{
	const char *reason;
	json_t *packets;

	json_object_foreach (dropped, reason, packets) {
		const char *const tags[] = {"instance", at->instance, "node", node, "module",
					    module,	"reason",     reason, NULL};
		struct influx_line line;

		influx_begin(&line, at->to, "sluice_drops", tags);
		influx_integer(&line, "packets", json_integer_value(packets));
		influx_end(&line, at->time_ns);
	}
}

static void node_lines(const struct lines *at, const char *name, json_t *node)
{
	static const struct {
		const char *key, *field;
	} rows[] = {
	    {"made", "made_packets"},	  {"consumed", "consumed_packets"},
	    {"held", "held_packets"},	  {"batches", "batches"},
	    {"cycles", "sampled_cycles"}, {"cycles_sampled", "sampled_packets"},
	};
	const char *module = text_of(node, "module");
	const char *const tags[] = {"instance", at->instance, "node", name, "module", module, NULL};
	json_t *dropped = json_object_get(node, "dropped"), *value;
	json_int_t drops = 0;
	const char *reason;
	struct influx_line line;

	json_object_foreach (dropped, reason, value)
		drops += json_integer_value(value);
	influx_begin(&line, at->to, "sluice_node", tags);
	influx_integer(&line, "in_packets", sum_of(json_object_get(node, "in")));
	influx_integer(&line, "out_packets", sum_of(json_object_get(node, "out")));
	influx_integer(&line, "dropped_packets", drops);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		influx_integer(&line, rows[i].field,
			       json_integer_value(json_object_get(node, rows[i].key)));
	influx_end(&line, at->time_ns);
	influx_begin(&line, at->to, "sluice_events", tags);
	numbers(&line, json_object_get(node, "counters"));
	influx_end(&line, at->time_ns);
	node_gates(at, name, module, "in", json_object_get(node, "in"));
	node_gates(at, name, module, "out", json_object_get(node, "out"));
	node_dropped(at, name, module, dropped);
}

static void port_line(const struct lines *at, const char *name, json_t *port)
{
	const char *const tags[] = {
	    "instance", at->instance, "port", name, "driver", text_of(port, "driver"), NULL};
	struct influx_line line;

	influx_begin(&line, at->to, "sluice_port", tags);
	numbers(&line, port);
	influx_end(&line, at->time_ns);
}

static void worker_line(const struct lines *at, size_t index, const json_t *worker)
{
	static const char *const rows[] = {"polls", "busy_cycles", "idle_cycles"};
	char number[24], core[24];
	const char *const tags[] = {"instance", at->instance, "worker", number, "core", core, NULL};
	struct influx_line line;

	snprintf(number, sizeof(number), "%zu", index);
	snprintf(core, sizeof(core), "%" JSON_INTEGER_FORMAT,
		 json_integer_value(json_object_get(worker, "core")));
	influx_begin(&line, at->to, "sluice_worker", tags);
	for (size_t row = 0; row < sizeof(rows) / sizeof(*rows); row++)
		influx_integer(&line, rows[row],
			       json_integer_value(json_object_get(worker, rows[row])));
	influx_end(&line, at->time_ns);
}

void influx_lines(const json_t *stats, const char *instance, FILE *to)
{
	struct lines at = {.to = to, .instance = instance};
	const char *const tags[] = {"instance", instance, NULL};
	json_t *part;
	const char *name;
	struct influx_line line;
	size_t i;

	at.time_ns = (uint64_t)json_integer_value(json_object_get(stats, "time_ns"));
	influx_begin(&line, to, "sluice_run", tags);
	influx_real(&line, "seconds", json_number_value(json_object_get(stats, "seconds")));
	influx_end(&line, at.time_ns);
	json_object_foreach (json_object_get(stats, "nodes"), name, part)
		node_lines(&at, name, part);
	json_object_foreach (json_object_get(stats, "ports"), name, part)
		port_line(&at, name, part);
	json_array_foreach (json_object_get(stats, "workers"), i, part)
		worker_line(&at, i, part);
}
