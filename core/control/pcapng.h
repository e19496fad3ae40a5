// SPDX-License-Identifier: BSD-3-Clause
// Blocks of pcapng, the format of captures (draft-ietf-opsawg-pcapng): to bytes and back. Pure.
// DPDK's librte_pcapng knows no other interfaces than devices of DPDK, all of them there at the
// start, takes packets as mbufs and blocks on a file descriptor.

#ifndef SLUICE_CONTROL_PCAPNG_H
#define SLUICE_CONTROL_PCAPNG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PCAPNG_TEXT_MAX 8192	       // of each text; what is longer is cut
#define PCAPNG_BLOCK_MAX (64u << 10)   // room that a block without a packet needs
#define PCAPNG_BLOCK_LIMIT (16u << 20) // no block of anybody is longer

enum pcapng_type {
	PCAPNG_SECTION = 0x0a0d0d0a,
	PCAPNG_INTERFACE = 1,
	PCAPNG_STATISTICS = 5,
	PCAPNG_PACKET = 6,
};

enum pcapng_direction { PCAPNG_UNKNOWN, PCAPNG_INBOUND, PCAPNG_OUTBOUND };

// Texts may be NULL: left out.
struct pcapng_section {
	const char *hardware, *os, *application, *comment;
};

struct pcapng_interface { // Ethernet, times in nanoseconds
	const char *name, *description, *filter;
	uint32_t snaplen;
};

struct pcapng_packet {
	uint32_t interface; // in the order of the section's interface blocks, from 0
	uint64_t time_ns;   // since 1970
	uint32_t captured;  // bytes that are there
	uint32_t length;    // of the packet
	enum pcapng_direction direction;
	const uint8_t *bytes;
};

struct pcapng_statistics {
	uint32_t interface;
	uint64_t time_ns, start_ns, end_ns;
	uint64_t received; // all that passed
	uint64_t accepted; // of them by the filter
	uint64_t dropped;  // of them for want of room
	uint64_t delivered;
	const char *comment;
};

// Write a block and return how long it is. There is room: PCAPNG_BLOCK_MAX, or for a packet
// pcapng_packet_size().
size_t pcapng_section(uint8_t *, const struct pcapng_section *);
size_t pcapng_interface(uint8_t *, const struct pcapng_interface *);
size_t pcapng_packet(uint8_t *, const struct pcapng_packet *);
size_t pcapng_statistics(uint8_t *, const struct pcapng_statistics *);

static inline size_t pcapng_packet_size(uint32_t captured, enum pcapng_direction direction)
{
	return 32 + (((size_t)captured + 3) & ~(size_t)3) + (direction ? 12 : 0);
}

// The length of the block that n bytes begin with; 0: more bytes are needed to tell or to have all
// of it; -1: they are no pcapng of this machine's byte order.
int64_t pcapng_block(const uint8_t *, size_t n);

// Read a whole block; false: it is of another type, or damaged. Texts go to buffers.
enum pcapng_type pcapng_type(const uint8_t *block);
bool pcapng_packet_read(const uint8_t *block, size_t n, struct pcapng_packet *);
bool pcapng_statistics_read(const uint8_t *block, size_t n, struct pcapng_statistics *,
			    char comment[PCAPNG_TEXT_MAX + 1]);
bool pcapng_interface_name(const uint8_t *block, size_t n, char *name, size_t size);

#endif
