// SPDX-License-Identifier: BSD-3-Clause
// The stamp by which a Meter knows a Generator's packets: 18 bytes, which fit behind the headers of
// a UDP packet of 60 bytes. All numbers are big-endian:
//
//   0  magic       16 bits  0x536c; its complement if the checksum covers what follows, too
//   2  stream      16 bits
//   4  sequence    48 bits  from 0 on
//  10  time        48 bits  when it was meant to be sent, in ns of the clock of the graph
//  16  checksum    16 bits  makes the ones' complement sum of the stamp (or of the stamp and all
//                           bytes behind it) 0xffff, as the Internet checksum does
//
// The sum of all stamps of a frame being one and the same, a UDP or TCP checksum over them stays
// right, whatever the stamp says.

#ifndef SLUICE_STAMP_H
#define SLUICE_STAMP_H

#include "packet.h"

#define STAMP_BYTES 18u
#define STAMP_MAGIC 0x536cu
#define STAMP_MAGIC_ALL 0xac93u
#define STAMP_MASK ((1ull << 48) - 1)

struct stamp {
	uint16_t stream;
	uint64_t sequence; // modulo 2^48, as time_ns
	uint64_t time_ns;
};

enum stamp_state {
	STAMP_GOOD,
	STAMP_DAMAGED, // magic or checksum is right, not both
	STAMP_NONE,
};

// The difference of two numbers modulo 2^48.
static inline int64_t stamp_difference(uint64_t a, uint64_t b)
{
	return (int64_t)((a - b) << 16) >> 16;
}

// The ones' complement sum of two sums of 16-bit words, each in up to 64 bits.
static inline uint64_t stamp_add(uint64_t a, uint64_t b)
{
	uint64_t sum = a + b;

	return sum + (sum < a);
}

static inline uint16_t stamp_fold(uint64_t sum)
{
	sum = (sum & 0xffffffff) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)sum;
}

// rest: the sum of what lies behind, if the magic says that it is covered, else 0.
static inline void stamp_write(uint8_t *bytes, uint16_t magic, const struct stamp *stamp,
			       uint16_t rest)
{
	uint64_t words[2] = {
	    rte_cpu_to_be_64((uint64_t)magic << 48 | (uint64_t)stamp->stream << 32 |
			     (stamp->sequence & STAMP_MASK) >> 16),
	    rte_cpu_to_be_64(stamp->sequence << 48 | (stamp->time_ns & STAMP_MASK)),
	};
	uint16_t check = ~stamp_fold(stamp_add(stamp_add(words[0], words[1]), rest));

	memcpy(bytes, words, sizeof(words));
	memcpy(bytes + sizeof(words), &check, sizeof(check));
}

// rest: of the bytes behind, if anything there is; it counts where the magic says so.
static inline enum stamp_state stamp_read(const uint8_t *bytes, uint16_t rest, struct stamp *stamp)
{
	uint64_t words[2], first, second, sum;
	uint16_t check, magic;

	memcpy(words, bytes, sizeof(words));
	memcpy(&check, bytes + sizeof(words), sizeof(check));
	first = rte_be_to_cpu_64(words[0]);
	second = rte_be_to_cpu_64(words[1]);
	magic = first >> 48;
	sum = stamp_add(stamp_add(words[0], words[1]), check);
	stamp->stream = first >> 32;
	stamp->sequence = (first << 16 | second >> 48) & STAMP_MASK;
	stamp->time_ns = second & STAMP_MASK;
	if (likely(magic == STAMP_MAGIC))
		return likely(stamp_fold(sum) == 0xffff) ? STAMP_GOOD : STAMP_DAMAGED;
	if (magic == STAMP_MAGIC_ALL)
		return stamp_fold(stamp_add(sum, rest)) == 0xffff ? STAMP_GOOD : STAMP_DAMAGED;
	// Nothing but the magic is wrong, if with the right one the sum would be as it should.
	sum = stamp_add(sum, (uint16_t)~rte_cpu_to_be_16(magic));
	if (stamp_fold(stamp_add(sum, RTE_BE16(STAMP_MAGIC))) == 0xffff ||
	    stamp_fold(stamp_add(stamp_add(sum, RTE_BE16(STAMP_MAGIC_ALL)), rest)) == 0xffff)
		return STAMP_DAMAGED;
	return STAMP_NONE;
}

// Whether a stamp at this place would need the bytes behind it to be read.
static inline bool stamp_covers(const uint8_t *bytes)
{
	return bytes[0] == STAMP_MAGIC_ALL >> 8 && bytes[1] == (STAMP_MAGIC_ALL & 0xff);
}

// Where a packet has its stamp if nobody says otherwise: behind the UDP header, or behind the
// Ethernet header and its tags where there is no IP. 0: neither.
static inline uint32_t stamp_place(struct view view)
{
	rte_be16_t type = 0;
	uint32_t l3 = view_l3(view, &type);
	uint8_t proto = 0;
	const uint8_t *l4;

	if (!l3)
		return 0;
	if (type != RTE_BE16(RTE_ETHER_TYPE_IPV4) && type != RTE_BE16(RTE_ETHER_TYPE_IPV6))
		return l3;
	l4 = view_l4(view, &proto);
	if (!l4 || proto != IPPROTO_UDP)
		return 0;
	return (uint32_t)(l4 - view.bytes) + (uint32_t)sizeof(struct rte_udp_hdr);
}

#endif
