// SPDX-License-Identifier: BSD-3-Clause
// Rewrites the snap lengths in a stream of pcap or pcapng: see capture_snap.h. It follows the
// blocks of a pcapng by their lengths and leaves the rest, and all that is damaged, to libpcap.

#include <stdlib.h>
#include <string.h>

#include "capture_snap.h"

enum { SNAP_UNKNOWN, SNAP_PCAP, SNAP_NG, SNAP_OTHER };

#define SNAP_SECTION 0x0a0d0d0a // the same in both byte orders
#define SNAP_INTERFACE 1
#define SNAP_OLD 2 // the three blocks that hold a packet
#define SNAP_SIMPLE 3
#define SNAP_ENHANCED 6
#define SNAP_AT_PCAP 16	 // where the length stands in the header of a file
#define SNAP_AT_NG 12	 // and in the block of an interface
#define SNAP_AT_SIMPLE 8 // where the length of a simple packet stands

static uint32_t capture_snap_get32(const uint8_t *bytes, unsigned big)
{
	uint32_t value;

	memcpy(&value, bytes, 4);
	return big ? __builtin_bswap32(value) : value;
}

static unsigned capture_snap_kind(const uint8_t magic[4])
{
	static const uint32_t pcap[] = {0xa1b2c3d4, 0xd4c3b2a1, 0xa1b23c4d, 0x4d3cb2a1};
	uint32_t value = capture_snap_get32(magic, 0);

	for (unsigned i = 0; i < sizeof(pcap) / sizeof(pcap[0]); i++)
		if (value == pcap[i])
			return SNAP_PCAP;
	return value == SNAP_SECTION ? SNAP_NG : SNAP_OTHER;
}

static void capture_snap_put32(uint8_t *bytes, uint32_t value, unsigned big)
{
	value = big ? __builtin_bswap32(value) : value;
	memcpy(bytes, &value, 4);
}

// A simple packet block says only how long the packet was on the wire; how much of it is there
// follows from the snap length of the first interface, which libpcap is not going to see.
static void capture_snap_simple(struct capture_snap *snap, uint8_t *length)
{
	if (!snap->simple || capture_snap_get32(length, snap->big) <= snap->simple)
		return;
	capture_snap_put32(length, snap->simple, snap->big);
	if (snap->n_cut == snap->cut_room) {
		unsigned room = 2 * snap->cut_room + 64;
		uint64_t *more = realloc(snap->cut, room * sizeof(*more));

		if (!more)
			return;
		snap->cut = more;
		snap->cut_room = room;
	}
	snap->cut[snap->n_cut++] = snap->packets;
}

bool capture_snap_was_cut(struct capture_snap *snap, uint64_t record)
{
	if (snap->cut_at == snap->n_cut || snap->cut[snap->cut_at] != record)
		return false;
	if (++snap->cut_at == snap->n_cut)
		snap->cut_at = snap->n_cut = 0;
	return true;
}

void capture_snap_restart(struct capture_snap *snap)
{
	*snap = (struct capture_snap){.cut = snap->cut, .cut_room = snap->cut_room};
}

void capture_snap_end(struct capture_snap *snap)
{
	free(snap->cut);
}

static void capture_snap_interface(struct capture_snap *snap, uint8_t *byte, unsigned i)
{
	snap->field[i] = *byte;
	*byte = 0;
	if (i < 3)
		return;
	if (!snap->interfaces++)
		snap->simple = capture_snap_get32(snap->field, snap->big);
}

// The first 12 bytes of a block are there: type, length and, of a section, the byte order.
static void capture_snap_begin(struct capture_snap *snap)
{
	if (capture_snap_get32(snap->head, 0) == SNAP_SECTION) {
		snap->big = snap->head[8] == 0x1a;
		snap->interfaces = 0;
		snap->simple = 0;
	}
	snap->length = capture_snap_get32(snap->head + 4, snap->big);
	if (snap->length < sizeof(snap->head))
		snap->kind = SNAP_OTHER;
}

// One of the first 16 bytes of a block; n bytes are there from it on.
static void capture_snap_block(struct capture_snap *snap, uint8_t *byte, size_t n)
{
	unsigned i = snap->at - snap->block;
	uint32_t type;

	if (i < sizeof(snap->head))
		snap->head[i] = *byte;
	type = capture_snap_get32(snap->head, snap->big);
	if (i == SNAP_AT_SIMPLE - 1)
		snap->packets += type == SNAP_OLD || type == SNAP_SIMPLE || type == SNAP_ENHANCED;
	if (i == SNAP_AT_SIMPLE && type == SNAP_SIMPLE && n >= 4)
		capture_snap_simple(snap, byte);
	if (i == sizeof(snap->head) - 1)
		capture_snap_begin(snap);
	if (i >= SNAP_AT_NG && type == SNAP_INTERFACE)
		capture_snap_interface(snap, byte, i - SNAP_AT_NG);
}

static void capture_snap_byte(struct capture_snap *snap, uint8_t *byte, size_t n)
{
	if (snap->at < sizeof(snap->magic)) {
		snap->magic[snap->at] = *byte;
		snap->head[snap->at] = *byte;
		if (snap->at == sizeof(snap->magic) - 1)
			snap->kind = capture_snap_kind(snap->magic);
	} else if (snap->kind == SNAP_PCAP) {
		if (snap->at >= SNAP_AT_PCAP && snap->at < SNAP_AT_PCAP + 4)
			*byte = 0;
	} else if (snap->kind == SNAP_NG) {
		capture_snap_block(snap, byte, n);
	}
}

// How many of the next n bytes are none of its business.
static size_t capture_snap_skip(struct capture_snap *snap, size_t n)
{
	uint64_t end = snap->block + snap->length;

	if (snap->kind == SNAP_OTHER || (snap->kind == SNAP_PCAP && snap->at >= SNAP_AT_PCAP + 4))
		return n;
	if (snap->kind != SNAP_NG || !snap->length)
		return 0;
	if (snap->at == end) {
		snap->block = end;
		snap->length = 0;
		return 0;
	}
	if (snap->at < snap->block + SNAP_AT_NG + 4)
		return 0;
	return n < end - snap->at ? n : end - snap->at;
}

void capture_snap_pass(struct capture_snap *snap, uint8_t *bytes, size_t n)
{
	size_t i = 0;

	while (i < n) {
		size_t skip = capture_snap_skip(snap, n - i);

		if (!skip) {
			capture_snap_byte(snap, bytes + i, n - i);
			skip = 1;
		}
		snap->at += skip;
		i += skip;
	}
}
