// SPDX-License-Identifier: BSD-3-Clause
// What the core does with parameter tables (param.h): fill a struct from a value, print it back.

#ifndef SLUICE_VALUE_TABLE_H
#define SLUICE_VALUE_TABLE_H

#include "param.h"
#include "value/value.h"

// The names that a value may refer to, where a row's type needs them. Any member may be NULL.
struct table_scope {
	const char *const *ports; // names of the graph's ports; NULL: any name is taken
	unsigned n_ports;
	const char *const *gates; // names of the node's output gates; a nameless one is ""
	unsigned n_gates;	  // 0: any number below GATES_MAX
};

// Fills a new struct in `arena` from a map (or VALUE_NULL / NULL: nothing given) after `table`,
// defaults included. `what` is the module, driver or command ("L2Fwd"), and starts each message:
// "L2Fwd: ageing: "soon" is not a duration (for example 300s)". Reports every fault (unknown,
// doubled, missing, type, range, choice, unit, gate, port), each at its own place, a missing one at
// `place`. Returns the struct, or NULL after any error. An empty or NULL table gives a struct of no
// use (one byte).
void *table_fill(struct arena *, const struct param *table, const char *what, struct place,
		 const struct value *, const struct table_scope *, struct errors *);

unsigned table_length(const struct param *table);

// The type in words, for the reference and messages: "duration", "list of {mac, gate}",
// "bridge|router".
const char *table_type_name(struct arena *, const struct param *);

// Unit, range and default in words; "" where there is none. In the user's notation ("1s to 1h").
const char *table_range_text(struct arena *, const struct param *);

// One field of a filled struct as a value a user would write, for show and export.
struct value *table_field_value(struct arena *, const struct param *, const void *strct);

// The whole struct as a map; rows that are at their default are left out if `brief`.
struct value *table_value(struct arena *, const struct param *table, const void *strct, bool brief);

// Whether two filled structs are equal in content (strings and lists by content).
bool table_equal(const struct param *table, const void *a, const void *b);

// Parsers of single scalars, for the command line too. false: not one; *why is set to a phrase that
// completes `"TEXT" ...`: "is not a duration (for example 300s)".
bool parse_duration(const char *text, struct duration *, const char **why);
bool parse_bytes(const char *text, struct bytes *, const char **why);
bool parse_rate(const char *text, struct rate *, const char **why);
bool parse_u64(const char *text, uint64_t *, const char **why);

// A packet in words or hexadecimal to bytes (see docs/packets.md). Returns false and sets *why,
// a sentence in the arena, when it is not one.
bool frame_parse(struct arena *, const char *text, struct frame *, const char **why);

// Bytes in packet words that frame_parse() makes the same bytes of; what words cannot say is `raw`
// hexadecimal. For show and for the differences that tests print.
const char *frame_describe(struct arena *, const uint8_t *bytes, unsigned n);

#endif
