// SPDX-License-Identifier: BSD-3-Clause
// What the tests of parameter tables share: a table with every type, one with lists, and filling
// them from YAML.

#ifndef SLUICE_TESTS_TABLE_RIG_H
#define SLUICE_TESTS_TABLE_RIG_H

#include <stdbool.h>

#include "value/table.h"

#define MAC_EG "a MAC address (for example 02:00:00:00:00:01)"

struct kinds {
	bool yes;
	uint8_t u8;
	uint16_t u16;
	uint32_t u32;
	uint32_t size;
	uint64_t u64;
	int32_t i32;
	int32_t level;
	int64_t i64;
	double real;
	double share;
	const char *text;
	const char *tag;
	struct duration wait;
	struct duration ageing;
	struct duration most;
	struct bytes buffer;
	struct bytes window;
	struct rate rate;
	struct rate speed;
	struct rte_ether_addr mac;
	struct ip4_net net4;
	struct ip6_net net6;
	struct ip4_net from4;
	struct ip6_net from6;
	struct gate gate;
	struct choice mode;
	struct hex hex;
	struct hex key;
	struct frame frame;
	struct port_ref port;
};

struct entry {
	struct rte_ether_addr mac;
	struct gate gate;
};

struct field {
	struct choice what;
};

struct lists {
	uint32_t size;
	struct param_list entries;
	struct param_list fields;
};

// Each default of `kinds` is good, so that one parameter at a time can be tried.
extern const struct param kinds[], lists[], entry_fields[];

// The faults of filling `table` from YAML, as text; "" if there are none. *strct is the struct.
char *table_faults(struct arena *, const struct param *table, const char *yaml, void **strct);

void expect_text(const char *found, const char *wanted, const char *what);
void expect_faults(const struct param *table, const char *yaml, const char *wanted);

#endif
