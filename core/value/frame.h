// SPDX-License-Identifier: BSD-3-Clause
// The layers of packets in words and their fields: one table serves reading, filling in and
// printing.

#ifndef SLUICE_VALUE_FRAME_H
#define SLUICE_VALUE_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#include "value/arena.h"

#define FRAME_MAX 65535 // bytes
#define FRAME_LAYERS 32 // in one frame
#define FRAME_FIELDS 16 // of one layer

enum field_kind {
	FIELD_NUMBER,
	FIELD_HEX, // a number that people write in hexadecimal
	FIELD_MAC,
	FIELD_IP4,
	FIELD_IP6,
	FIELD_FLAGS,   // of TCP, as letters
	FIELD_OPTIONS, // bytes behind the fixed header, a multiple of 4
	FIELD_TPID,    // what the layer below says this layer is; takes no place in this one
};

// How a field is filled in when it is not given.
enum field_fill {
	FILL_DEFAULT,
	FILL_ETHERTYPE, // of the next layer
	FILL_PROTOCOL,	// the same, as a number of IP
	FILL_LENGTH,	// bytes from this layer to the end, padding left out
	FILL_PAYLOAD,	// the same without this layer's header
	FILL_WORDS,	// header length in words of 32 bits
	FILL_HEADER_SUM,
	FILL_SUM,
	FILL_PSEUDO_SUM, // with the pseudo-header of the IP layer below
};

struct frame_field {
	const char *name;
	enum field_kind kind;
	uint16_t bit; // offset in the header
	uint16_t bits;
	const char *def;
	enum field_fill fill;
	bool shown; // printed also when it is at its default
};

struct frame_layer {
	const char *name;
	unsigned length;    // of the fixed header
	uint16_t ethertype; // 0: none
	int protocol;	    // of IP; -1: none
	int next_ethertype; // what an unknown payload is called; -1: the layer has no such field
	int next_protocol;
	const struct frame_field *fields;
};

// A layer in a frame.
struct frame_part {
	const struct frame_layer *layer;
	unsigned at;	 // offset in the frame
	unsigned length; // of the header with options
	uint32_t given;	 // which fields were written
	uint16_t ethertype;
};

extern const struct frame_layer frame_layers[]; // ends with a name of NULL

const struct frame_layer *frame_layer_find(const char *name);
const struct frame_field *frame_field_find(const struct frame_layer *, const char *name);

// Numbers of up to 64 bits at any bit of a header.
uint64_t bits_get(const uint8_t *header, unsigned bit, unsigned bits);
void bits_put(uint8_t *header, unsigned bit, unsigned bits, uint64_t n);

// Reads TEXT into a field of the header; false with *why, a phrase that completes `"TEXT" ...`.
bool frame_field_read(struct arena *, const struct frame_field *, const char *text, uint8_t *header,
		      const char **why);
const char *frame_field_text(struct arena *, const struct frame_field *, const uint8_t *header);

// The layers at the beginning of some bytes, and how many they are. *payload: what follows them.
unsigned frame_dissect(const uint8_t *bytes, unsigned n, struct frame_part parts[FRAME_LAYERS],
		       unsigned *payload);

// The headers in words, without what can be filled in; for bytes that may be a packet's first ones.
const char *frame_headers(struct arena *, const uint8_t *bytes, unsigned n);

// What differs between two packets, of which n bytes are known each: "ipv4 ttl 64 -> 63", "+ vlan
// id=5", "length 60 -> 64". Returns how many texts it wrote.
struct frame_known {
	const uint8_t *bytes;
	unsigned n;
	unsigned length; // of the whole packet
};
#define FRAME_CHANGES 32
unsigned frame_changes(struct arena *, struct frame_known before, struct frame_known after,
		       const char *texts[FRAME_CHANGES]);

// "vlan id=5": a layer in words; the fields that are filled in are left out but for those of
// part->given.
const char *frame_part_text(struct arena *, const uint8_t *bytes, const struct frame_part *);

// Fills in what was not given: next types, lengths, then checksums from the inside out. `end` is
// where the padding begins. NULL, or why it cannot be done.
const char *frame_fill(struct arena *, uint8_t *bytes, unsigned end, const struct frame_part *,
		       unsigned n);

#endif
