// SPDX-License-Identifier: BSD-3-Clause
// What HashSplit promises of its hash: directions, fragments and segments make no difference, and
// flows spread evenly.

#include <stdlib.h>
#include <string.h>

#include "module.h"
#undef MODULE
#define MODULE(VAR) __attribute__((unused)) static const struct module_type *VAR##_type = &(VAR);
#include "../../modules/hashsplit.c" // NOLINT(bugprone-suspicious-include)
#include "suite.h"
#include "value/table.h"

static struct hashsplit by_bits(unsigned bits)
{
	return (struct hashsplit){.mac = bits & 1,
				  .ip = bits & 2,
				  .port = bits & 4,
				  .vlan = bits & 8,
				  .proto = bits & 16};
}

// The hash of a packet in words, whose first segment has `first` bytes (0: all).
static uint32_t hash_of(const char *words, struct hashsplit by, uint32_t seed, unsigned first)
{
	struct arena *arena = arena_new();
	struct rte_mbuf segs[2];
	uint8_t copy[HASHSPLIT_BYTES];
	struct frame frame;
	struct view view;
	const char *why;
	uint32_t hash;

	if (!frame_parse(arena, words, &frame, &why))
		CU_FAIL_FATAL(why);
	first = first && first < frame.n ? first : frame.n;
	memset(segs, 0, sizeof(segs));
	segs[0] = (struct rte_mbuf){.buf_addr = frame.bytes,
				    .data_len = first,
				    .pkt_len = frame.n,
				    .nb_segs = first < frame.n ? 2 : 1,
				    .next = first < frame.n ? &segs[1] : NULL};
	segs[1].buf_addr = frame.bytes + first;
	segs[1].data_len = frame.n - first;
	view = hashsplit_view(&segs[0], copy);
	hash = hashsplit_hash(view, by, seed);
	arena_free(arena);
	return hash;
}

static uint32_t five(const char *words)
{
	return hash_of(words, by_bits(2 | 4 | 16), 0, 0);
}

// Each pair is the two directions of one flow.
static const char *const pairs[][2] = {
    {"ether src=02:00:00:00:00:0a dst=02:00:00:00:00:0b / ipv4 src=10.0.0.1 dst=10.9.0.2 / "
     "udp sport=1000 dport=53",
     "ether src=02:00:00:00:00:0b dst=02:00:00:00:00:0a / ipv4 src=10.9.0.2 dst=10.0.0.1 / "
     "udp sport=53 dport=1000 / text \"more\""},
    {"ether src=02:00:00:00:00:0a dst=02:00:00:00:00:0b / vlan id=7 / ipv4 src=10.0.0.1 "
     "dst=10.0.0.2 options=01010101 / tcp sport=1 dport=2",
     "ether src=02:00:00:00:00:0b dst=02:00:00:00:00:0a / vlan id=7 pcp=3 / ipv4 src=10.0.0.2 "
     "dst=10.0.0.1 / tcp sport=2 dport=1 flags=SA"},
    {"ether src=02:00:00:00:00:0a dst=02:00:00:00:00:0b / ipv6 src=2001:db8::1 dst=fe80::9 / "
     "tcp sport=80 dport=81",
     "ether src=02:00:00:00:00:0b dst=02:00:00:00:00:0a / ipv6 src=fe80::9 dst=2001:db8::1 / "
     "tcp sport=81 dport=80"},
    {"ether src=02:00:00:00:00:0a dst=02:00:00:00:00:0b / arp op=1",
     "ether src=02:00:00:00:00:0b dst=02:00:00:00:00:0a / arp op=2"},
    {"ether src=02:00:00:00:00:0a dst=02:00:00:00:00:0b type=0x0800 / raw 45 00",
     "ether src=02:00:00:00:00:0b dst=02:00:00:00:00:0a type=0x88b5 / raw 01"},
    {"ether src=02:00:00:00:00:0a dst=02:00:00:00:00:0b / ipv4 src=10.0.0.1 dst=10.9.0.2 / "
     "icmp type=8",
     "ether src=02:00:00:00:00:0b dst=02:00:00:00:00:0a / ipv4 src=10.9.0.2 dst=10.0.0.1 / "
     "icmp type=0"},
};

static void directions(void)
{
	for (unsigned i = 0; i < RTE_DIM(pairs); i++)
		for (unsigned bits = 1; bits < 32; bits++)
			CU_ASSERT_EQUAL(hash_of(pairs[i][0], by_bits(bits), 5, 0),
					hash_of(pairs[i][1], by_bits(bits), 5, 0));
}

static void segments(void)
{
	for (unsigned i = 0; i < RTE_DIM(pairs); i++)
		for (unsigned bits = 1; bits < 32; bits++) {
			uint32_t whole = hash_of(pairs[i][0], by_bits(bits), 0, 0);

			for (unsigned first = 14; first < 100; first++)
				CU_ASSERT_EQUAL(hash_of(pairs[i][0], by_bits(bits), 0, first),
						whole);
		}
}

// The first fragment has a UDP header, the others may look as if they had.
static void fragments(void)
{
	static const char *const ip4[] = {
	    "ether / ipv4 id=7 flags=1 / udp sport=5 dport=6 / pad 60",
	    "ether / ipv4 id=7 flags=1 frag=3 proto=17 / raw 0001 0002 0008 0000 0000 0000",
	    "ether / ipv4 id=7 frag=5 proto=17 / raw ff",
	};
	static const char *const ip6[] = {
	    "ether / ipv6 next=44 / raw 11 00 0001 00000007 0005 0006 0008 0000 0000",
	    "ether / ipv6 next=44 / raw 11 00 0009 00000007 0001 0002 0008 0000 0000",
	    "ether / ipv6 next=44 / raw 3c 00 0010 00000007 ff",
	};

	for (unsigned bits = 1; bits < 32; bits++)
		for (unsigned i = 1; i < 3; i++) {
			CU_ASSERT_EQUAL(hash_of(ip4[i], by_bits(bits), 0, 0),
					hash_of(ip4[0], by_bits(bits), 0, 0));
			CU_ASSERT_EQUAL(hash_of(ip6[i], by_bits(bits), 0, 0),
					hash_of(ip6[0], by_bits(bits), 0, 0));
		}
}

static void fields(void)
{
	uint32_t udp = five("ether / vlan id=5 / ipv4 / udp sport=1 dport=2");

	CU_ASSERT_EQUAL(five("ether / vlan id=6 / ipv4 / udp sport=1 dport=2"), udp);
	CU_ASSERT_EQUAL(five("ether dst=02:00:00:00:00:77 / ipv4 / udp sport=1 dport=2"), udp);
	CU_ASSERT_NOT_EQUAL(five("ether / ipv4 / udp sport=1 dport=3"), udp);
	CU_ASSERT_NOT_EQUAL(five("ether / ipv4 / tcp sport=1 dport=2"), udp);
	CU_ASSERT_NOT_EQUAL(five("ether / ipv4 dst=10.0.0.3 / udp sport=1 dport=2"), udp);
	CU_ASSERT_NOT_EQUAL(hash_of("ether / vlan id=5 / arp", by_bits(8), 0, 0),
			    hash_of("ether / vlan id=6 / arp", by_bits(8), 0, 0));
	CU_ASSERT_NOT_EQUAL(hash_of("ether / arp", by_bits(1), 0, 0),
			    hash_of("ether dst=02:00:00:00:00:77 / arp", by_bits(1), 0, 0));
	CU_ASSERT_NOT_EQUAL(hash_of("ether / arp", by_bits(1), 0, 0),
			    hash_of("ether / arp", by_bits(1), 1, 0));
}

// Flows that differ in little: addresses and ports that count up.
static uint32_t flow(unsigned i, uint32_t seed)
{
	uint8_t bytes[] = {2, 0,  0,  0, 0, 2,	2, 0, 0, 0,  0, 1, 8, 0, 0x45, 0, 0,  28, 0, 0, 0,
			   0, 64, 17, 0, 0, 10, 0, 0, 0, 10, 0, 0, 2, 0, 0,    0, 53, 0,  8, 0, 0};
	struct view view = {.bytes = bytes, .here = sizeof(bytes), .all = sizeof(bytes)};

	bytes[29] = i % 64;
	bytes[34] = (1024 + i / 64) >> 8;
	bytes[35] = 1024 + i / 64;
	return hashsplit_hash(view, by_bits(2 | 4 | 16), seed);
}

static void spread(void)
{
	enum { FLOWS = 16384 };

	for (unsigned gates = 2; gates <= 64; gates++) {
		unsigned n[64] = {0}, both[4] = {0};

		for (unsigned i = 0; i < FLOWS; i++)
			n[(uint64_t)flow(i, 0) * gates >> 32]++;
		for (unsigned i = 0; i < gates; i++)
			CU_ASSERT(n[i] > FLOWS / gates * 2 / 3 && n[i] < FLOWS / gates * 4 / 3);
		// What one HashSplit sends by a gate, another with its own seed spreads again.
		for (unsigned i = 0; i < FLOWS; i++)
			both[flow(i, 0) >> 31 | flow(i, gates) >> 31 << 1]++;
		for (unsigned i = 0; i < 4; i++)
			CU_ASSERT(both[i] > FLOWS / 4 * 3 / 4);
	}
}

static const CU_TestInfo hashsplit_cases[] = {
    {"both directions of a flow", directions},
    {"wherever segments end", segments},
    {"all fragments of a datagram", fragments},
    {"fields that are chosen, and no others", fields},
    {"flows spread evenly", spread},
    CU_TEST_INFO_NULL,
};
SUITE(hashsplit, hashsplit_cases)
