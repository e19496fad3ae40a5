// SPDX-License-Identifier: BSD-3-Clause
// Random values for parameters, after their tables (random_graph.h).

#include <stdlib.h>

#include "random_graph.h"

uint32_t random_next(struct random *random)
{
	random->state = random->state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(random->state >> 33);
}

uint32_t random_below(struct random *random, uint32_t n)
{
	return random_next(random) % n;
}

bool random_chance(struct random *random, unsigned percent)
{
	return random_below(random, 100) < percent;
}

// Near the least, near `span` above it, or at the most if that is no matter of memory.
static uint64_t number(struct random *random, const struct param *row, uint64_t most, uint64_t span)
{
	uint64_t min = row->min > 0 ? (uint64_t)row->min : 0;
	uint64_t max = row->max ? row->max : most;
	uint64_t room = max - min;

	if (random_chance(random, 20))
		return min;
	if (max <= UINT16_MAX && random_chance(random, 15))
		return max;
	if (room > span)
		room = span;
	return min + random_next(random) % (room + 1);
}

// Of what costs text for each one: a few more than there must be.
static uint64_t few(struct random *random, const struct param *row, unsigned otherwise)
{
	uint64_t min = row->min > 0 ? (uint64_t)row->min : 0;
	uint64_t max = row->max ? row->max : min + otherwise;
	uint64_t room = max - min < otherwise ? max - min : otherwise;

	return min + random_below(random, (uint32_t)room + 1);
}

static void net_put(struct random *random, const struct param *row, struct engine_text *text)
{
	uint32_t a = random_next(random);

	if (row->type == PARAM_IP4_NET)
		engine_put(text, "10.%u.%u.0/%u", a & 3, a >> 8 & 3, 24);
	else
		engine_put(text, "'2001:db8:%x::/48'", a & 0xff);
}

static void bytes_put(struct random *random, const struct param *row, struct engine_text *text)
{
	uint64_t n = few(random, row, 16);

	engine_put(text, "'");
	for (uint64_t i = 0; i < n; i++)
		engine_put(text, "%02x", random_next(random) & 0xff);
	engine_put(text, "'");
}

static void choice_put(struct random *random, const struct param *row, struct engine_text *text)
{
	unsigned n = 0;

	while (row->choices[n])
		n++;
	engine_put(text, "'%s'", row->choices[random_below(random, n)]);
}

static bool list_put(struct random *random, const struct param *row, const char *port,
		     unsigned gates, struct engine_text *text)
{
	uint64_t n = few(random, row, 3);

	engine_put(text, "[");
	for (uint64_t i = 0; i < n; i++) {
		engine_put(text, "%s", i ? ", " : "");
		if (!random_params(random, row->fields, false, port, gates, text))
			return false;
	}
	engine_put(text, "]");
	return true;
}

static void frame_put(struct random *random, struct engine_text *text)
{
	static const char *const frames[] = {
	    "ether / ipv4 / udp",
	    "ether / vlan id=5 / ipv6 / tcp",
	    "ether / arp",
	    "ether / ipv4 dst=10.0.1.7 / tcp dport=80 / pad 200",
	    "ff ff ff ff ff ff 02 00 00 00 00 01 12 34",
	};

	engine_put(text, "'%s'", frames[random_below(random, sizeof(frames) / sizeof(*frames))]);
}

// A text, a port or whatever only the module knows: its example, or its default.
static bool known_put(const struct param *row, const char *port, struct engine_text *text)
{
	if (row->type == PARAM_PORT && port)
		engine_put(text, "%s", port);
	else if (row->example)
		engine_put(text, "\"%s\"", row->example);
	else if (row->def)
		engine_put(text, "\"%s\"", row->def);
	else
		return false;
	return true;
}

static bool value_put_text(struct random *random, const struct param *row, const char *port,
			   unsigned gates, struct engine_text *text)
{
	switch (row->type) {
	case PARAM_BOOL:
		engine_put(text, random_chance(random, 50) ? "true" : "false");
		return true;
	case PARAM_U8:
		engine_put(text, "%lu", number(random, row, UINT8_MAX, UINT8_MAX));
		return true;
	case PARAM_U16:
		engine_put(text, "%lu", number(random, row, UINT16_MAX, 2000));
		return true;
	case PARAM_U32:
	case PARAM_U64:
	case PARAM_I32:
	case PARAM_I64:
		engine_put(text, "%lu", number(random, row, UINT32_MAX / 2, 500));
		return true;
	case PARAM_DOUBLE:
		engine_put(text, "%lu", number(random, row, 1, 1));
		return true;
	case PARAM_DURATION:
		engine_put(text, "%luns", number(random, row, 10000000000ULL, 3000000000ULL));
		return true;
	case PARAM_BYTES:
		engine_put(text, "%lu", number(random, row, 1 << 20, 20000));
		return true;
	case PARAM_RATE:
		engine_put(text, "%lu%s", number(random, row, 1 << 30, 1000000),
			   random_chance(random, 50) ? "pps" : "bps");
		return true;
	case PARAM_MAC:
		engine_put(text, "'02:00:00:00:00:%02x'", random_below(random, 4));
		return true;
	case PARAM_IP4_NET:
	case PARAM_IP6_NET:
		net_put(random, row, text);
		return true;
	case PARAM_GATE:
		engine_put(text, "%u", random_below(random, gates ? gates : 1));
		return true;
	case PARAM_CHOICE:
		choice_put(random, row, text);
		return true;
	case PARAM_HEX:
		bytes_put(random, row, text);
		return true;
	case PARAM_FRAME:
		frame_put(random, text);
		return true;
	case PARAM_LIST:
		return list_put(random, row, port, gates, text);
	case PARAM_STRING:
	case PARAM_PORT:
		return known_put(row, port, text);
	}
	return false;
}

bool random_params(struct random *random, const struct param *table, bool brief, const char *port,
		   unsigned gates, struct engine_text *text)
{
	bool any = false;

	engine_put(text, "{");
	for (const struct param *row = table; row && row->name; row++) {
		if (row->def && (brief || random_chance(random, 60)))
			continue;
		engine_put(text, "%s%s: ", any ? ", " : "", row->name);
		any = true;
		if (!value_put_text(random, row, port, gates, text))
			return false;
	}
	engine_put(text, "}");
	return true;
}
