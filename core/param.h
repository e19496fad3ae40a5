// SPDX-License-Identifier: BSD-3-Clause
// Parameter tables: one row says a parameter's name, type, range, default and help, and serves the
// graph file's check, the command line, the JSON and the reference. Shared by module.h and
// driver.h.

#ifndef SLUICE_PARAM_H
#define SLUICE_PARAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_ether.h>

typedef uint16_t gate_t;

struct errors;
struct port;

// Types with a unit, or with a meaning that a plain C type does not tell.

struct duration { // "10ms"; units ns us ms s min h
	uint64_t ns;
};
struct bytes { // "2KiB"; units B KiB MiB GiB kB MB GB; a bare number is bytes
	uint64_t bytes;
};
enum rate_unit { RATE_PPS, RATE_BPS };
struct rate { // "10Mpps", "1Gbps"
	uint64_t per_s;
	enum rate_unit unit;
};
struct ip4_net {       // "10.0.0.0/8"; a bare address is a /32
	uint32_t addr; // host byte order
	uint8_t len;
};
struct ip6_net {	  // "2001:db8::/32"; a bare address is a /128
	uint8_t addr[16]; // network byte order
	uint8_t len;
};
struct gate { // an output gate of the node itself, by number or name
	gate_t n;
};
struct choice { // one of the row's .choices, by its place there
	unsigned n;
};
struct hex { // "0800 45:00": bytes in hexadecimal; blanks, colons and dots between bytes are
	     // skipped
	uint8_t *bytes;
	unsigned n;
};
struct frame { // a packet in words ("ether ... / ipv4 ... / udp ..."), see docs/packets.md
	uint8_t *bytes;
	unsigned n;
};
struct port_ref { // a port of the graph, by name; `port` is set before open() is called
	const char *name;
	struct port *port;
};
struct param_list { // items of the row's .fields; an item that is no map fills the first field
	void *items;
	unsigned n;
};

enum param_type {
	PARAM_BOOL,
	PARAM_U8,
	PARAM_U16,
	PARAM_U32,
	PARAM_U64,
	PARAM_I32,
	PARAM_I64,
	PARAM_DOUBLE,
	PARAM_STRING,
	PARAM_DURATION,
	PARAM_BYTES,
	PARAM_RATE,
	PARAM_MAC,
	PARAM_IP4_NET,
	PARAM_IP6_NET,
	PARAM_GATE,
	PARAM_CHOICE,
	PARAM_HEX,
	PARAM_FRAME,
	PARAM_PORT,
	PARAM_LIST,
};

struct param {
	const char *name;
	enum param_type type;
	size_t offset;	    // of the field in its struct
	size_t struct_size; // of the struct that the table describes
	const char *def;    // what a user would write; NULL: it must be given; "": empty
	int64_t
	    min; // numbers, and units in ns, bytes and per second; lengths of strings, hex, lists
	uint64_t max;		    // 0: as much as the type holds
	const char *const *choices; // of a struct choice, NULL-terminated
	const struct param *fields; // of one item of a list
	const char
	    *example; // shown by errors and in the reference, where the default says too little
	const char *help;
	bool live; // may change while the node runs
};

#define PARAM_TYPE(field)                                                                          \
	_Generic((field), bool: PARAM_BOOL, uint8_t: PARAM_U8, uint16_t: PARAM_U16,                \
		 uint32_t: PARAM_U32, uint64_t: PARAM_U64, int32_t: PARAM_I32, int64_t: PARAM_I64, \
		 double: PARAM_DOUBLE, const char *: PARAM_STRING,                                 \
		 struct duration: PARAM_DURATION, struct bytes: PARAM_BYTES,                       \
		 struct rate: PARAM_RATE, struct rte_ether_addr: PARAM_MAC,                        \
		 struct ip4_net: PARAM_IP4_NET, struct ip6_net: PARAM_IP6_NET,                     \
		 struct gate: PARAM_GATE, struct choice: PARAM_CHOICE, struct hex: PARAM_HEX,      \
		 struct frame: PARAM_FRAME, struct port_ref: PARAM_PORT,                           \
		 struct param_list: PARAM_LIST)

// A row for a field of struct STRUCT. A field of a type that the tables do not know fails to
// compile.
#define PARAM(STRUCT, FIELD, ...) PARAM_NAMED(STRUCT, FIELD, #FIELD, __VA_ARGS__)

// The same, where the parameter's name is no C identifier.
#define PARAM_NAMED(STRUCT, FIELD, NAME, ...)                                                      \
	{                                                                                          \
		.name = (NAME), .type = PARAM_TYPE(((struct STRUCT *)0)->FIELD),                   \
		.offset = offsetof(struct STRUCT, FIELD), .struct_size = sizeof(struct STRUCT),    \
		__VA_ARGS__                                                                        \
	}

#define PARAM_END                                                                                  \
	{                                                                                          \
		.name = NULL                                                                       \
	}

// Item I of a list of struct STRUCT.
#define param_item(STRUCT, list, i) (&((struct STRUCT *)(list).items)[i])

// Reports a fault from check(), open() or a command. PARAM is the parameter's path ("size",
// "entries[3].mac") or NULL for the whole node or port; the place in the file follows from it.
// error_input: the text is wrong (exit code 2). error_machine: this machine lacks something (3).
void error_input(struct errors *, const char *param, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void error_machine(struct errors *, const char *param, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
