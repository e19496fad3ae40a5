// SPDX-License-Identifier: BSD-3-Clause
// The accessors of packet.h: what they find in good packets, wherever a segment ends, and that they
// promise nothing of bad ones. Packets lie in memory of just their size, for the sanitizer.

#include <stdlib.h>
#include <string.h>

#include <pcap/pcap.h>

#include "packet.h"
#include "suite.h"
#include "value/arena.h"

#define MACS "020000000002020000000001"
#define VLAN(TPID, VID) TPID "0" VID
#define IP4_OF(VER_IHL, LENGTH, FRAGMENT, PROTO)                                                   \
	"0800" VER_IHL "00" LENGTH "0000" FRAGMENT "40" PROTO "0000"                               \
	"0a000001"                                                                                 \
	"0a000002"
#define IP4(LENGTH, PROTO) IP4_OF("45", LENGTH, "0000", PROTO)
#define IP6(LENGTH, NEXT)                                                                          \
	"86dd"                                                                                     \
	"60000000" LENGTH NEXT "40"                                                                \
	"20010db8000000000000000000000001"                                                         \
	"20010db8000000000000000000000002"
#define UDP "00350035000a0000aabb" // ten bytes
#define TCP "0050005100000001000000005002ffff00000000"

// Two segments over bytes of just their size.
struct packet {
	struct rte_mbuf segs[2];
};

static uint8_t *from_hex(const char *hex, uint32_t *n)
{
	uint8_t *bytes = malloc(strlen(hex) / 2 + 1);

	*n = 0;
	for (; *hex; hex += 2) {
		char digits[3] = {hex[0], hex[1], 0};

		bytes[(*n)++] = strtoul(digits, NULL, 16);
	}
	return bytes;
}

static void seg_fill(struct rte_mbuf *seg, const uint8_t *bytes, uint32_t n)
{
	seg->buf_addr = malloc(n ? n : 1);
	seg->buf_len = seg->data_len = n;
	memcpy(seg->buf_addr, bytes, n);
}

// The first segment has `first` bytes.
static struct packet *packet_new(const uint8_t *bytes, uint32_t n, uint32_t first)
{
	struct packet *packet = memory_lines(sizeof(*packet)); // as DPDK's own packets

	seg_fill(&packet->segs[0], bytes, first);
	packet->segs[0].pkt_len = n;
	packet->segs[0].nb_segs = 1;
	if (first < n) {
		seg_fill(&packet->segs[1], bytes + first, n - first);
		packet->segs[0].next = &packet->segs[1];
		packet->segs[0].nb_segs = 2;
	}
	return packet;
}

static void packet_free(struct packet *packet)
{
	free(packet->segs[0].buf_addr);
	free(packet->segs[1].buf_addr);
	free(packet);
}

static int offset_of(const struct packet *packet, const void *header)
{
	return header ? (const uint8_t *)header - (const uint8_t *)packet->segs[0].buf_addr : -1;
}

// What should be found: offsets, -1 for NULL, and how many bytes must be there for it.
struct expected {
	const char *name;
	const char *hex;
	int ip4, ip6, l4;
	uint8_t proto;
	unsigned ip_end, l4_end;
	unsigned behind; // bytes that are not IP's
};

static const struct expected good[] = {
    {"udp", MACS IP4("001e", "11") UDP, 14, -1, 34, 17, 34, 42},
    {"padding", MACS IP4("001e", "11") UDP "00000000000000000000", 14, -1, 34, 17, 34, 42, 10},
    {"tcp", MACS IP4("0028", "06") TCP, 14, -1, 34, 6, 34, 54},
    {"dont fragment", MACS IP4_OF("45", "001e", "4000", "11") UDP, 14, -1, 34, 17, 34, 42},
    {"options", MACS IP4_OF("46", "0022", "0000", "11") "01010101" UDP, 14, -1, 38, 17, 38, 46},
    {"all options",
     MACS IP4_OF("4f", "0046", "0000", "11") "01010101010101010101010101010101010101010101010101"
					     "010101010101010101010101010101" UDP,
     14, -1, 74, 17, 74, 82},
    {"one tag", MACS VLAN("8100", "005") IP4("001e", "11") UDP, 18, -1, 38, 17, 38, 46},
    {"two tags", MACS VLAN("88a8", "064") VLAN("8100", "005") IP4("001e", "11") UDP, 22, -1, 42, 17,
     42, 50},
    {"old tag", MACS VLAN("9100", "064") VLAN("8100", "005") IP6("000a", "11") UDP, -1, 22, 62, 17,
     62, 70},
    {"eight tags",
     MACS VLAN("8100", "001") VLAN("8100", "001") VLAN("8100", "001") VLAN("8100", "001")
	 VLAN("8100", "001") VLAN("8100", "001") VLAN("8100", "001") VLAN("8100", "001")
	     IP4("001e", "11") UDP,
     46, -1, 66, 17, 66, 74},
    {"no payload", MACS IP4("0014", "11"), 14, -1, -1, 0, 34, 0},
    {"icmp", MACS IP4("001c", "01") "0800000000010001", 14, -1, 34, 1, 34, 42},
    {"gre", MACS IP4("0018", "2f") "00000800", 14, -1, 34, 47, 34, 38},
    {"sctp", MACS IP4("0020", "84") "005000510000000000000000", 14, -1, 34, 132, 34, 46},
    {"udp over ip6", MACS IP6("000a", "11") UDP, -1, 14, 54, 17, 54, 62},
    {"icmp6", MACS IP6("0008", "3a") "8000000000010001", -1, 14, 54, 58, 54, 62},
    {"hop by hop", MACS IP6("0012", "00") "1100010400000000" UDP, -1, 14, 62, 17, 54, 70},
    {"chain",
     MACS IP6("0032", "00") "2b00010400000000"
			    "3c02040000000000000000000000000000000000000000"
			    "00"
			    "1100010400000000" UDP,
     -1, 14, 94, 17, 54, 102},
    {"authenticated", MACS IP6("0016", "33") "110100000000000000000001" UDP, -1, 14, 66, 17, 54,
     74},
    {"whole in one fragment", MACS IP6("0012", "2c") "1100000000000001" UDP, -1, 14, 62, 17, 54,
     70},
    {"nothing follows", MACS IP6("0000", "3b"), -1, 14, -1, 0, 54, 0},
    {"nothing follows options", MACS IP6("0008", "00") "3b00010400000000", -1, 14, -1, 0, 54, 0},
    {"first fragment", MACS IP4_OF("45", "001e", "2000", "11") UDP, 14, -1, -1, 0, 34, 0},
    {"last fragment", MACS IP4_OF("45", "001e", "0010", "11") UDP, 14, -1, -1, 0, 34, 0},
    {"ip6 first fragment", MACS IP6("0012", "2c") "1100000100000001" UDP, -1, 14, -1, 0, 54, 0},
    {"ip6 last fragment", MACS IP6("0012", "2c") "1100000800000001" UDP, -1, 14, -1, 0, 54, 0},
    {"udp too long", MACS IP4("001e", "11") "00350035000b0000aabb", 14, -1, -1, 0, 34, 0},
    {"udp too short", MACS IP4("001e", "11") "0035003500070000aabb", 14, -1, -1, 0, 34, 0},
    {"tcp offset 4", MACS IP4("0028", "06") "0050005100000001000000004002ffff00000000", 14, -1, -1,
     0, 34, 0},
    {"tcp offset 6", MACS IP4("0028", "06") "0050005100000001000000006002ffff0000000000000000", 14,
     -1, -1, 0, 34, 0, 4},
    {"tcp cut by ip", MACS IP4("0027", "06") TCP, 14, -1, -1, 0, 34, 0, 1},
    {"extension beyond payload", MACS IP6("0012", "00") "1101010400000000" UDP, -1, 14, -1, 0, 54,
     0},
    {"extension without room", MACS IP6("0007", "00") "1100010400000000", -1, 14, -1, 0, 54, 0, 1},
};

// None of these is IP.
static const struct expected bad[] = {
    {"bare", MACS "0800"},
    {"arp", MACS "08060001080006040001020000000001"
		 "0a000001"
		 "000000000000"
		 "0a000002"},
    {"nine tags", MACS VLAN("8100", "001") VLAN("8100", "001") VLAN("8100", "001") VLAN(
		      "8100", "001") VLAN("8100", "001") VLAN("8100", "001") VLAN("8100", "001")
		      VLAN("8100", "001") VLAN("8100", "001") IP4("001e", "11") UDP},
    {"cut tag", MACS "81000005"},
    {"tag only", MACS "8100"},
    {"ihl 4", MACS IP4_OF("44", "001e", "0000", "11") UDP},
    {"ihl 0", MACS IP4_OF("40", "001e", "0000", "11") UDP},
    {"ihl beyond packet", MACS IP4_OF("4f", "001e", "0000", "11") UDP},
    {"version 6 as ip4", MACS IP4_OF("65", "001e", "0000", "11") UDP},
    {"total length 0", MACS IP4("0000", "11") UDP},
    {"total length below header", MACS IP4("0013", "11") UDP},
    {"total length below options", MACS IP4_OF("46", "0017", "0000", "11") "01010101" UDP},
    {"total length beyond packet", MACS IP4("001f", "11") UDP},
    {"total length 65535", MACS IP4("ffff", "11") UDP},
    {"payload beyond packet", MACS IP6("000b", "11") UDP},
    {"payload 65535", MACS IP6("ffff", "11") UDP},
    {"version 4 as ip6", MACS "86dd4000"
			      "0000000a1140" UDP UDP UDP UDP UDP},
    {"802.3 length", MACS "0026" UDP UDP UDP UDP},
};

static void expect(const struct expected *want, const struct packet *packet, unsigned here)
{
	const struct rte_mbuf *pkt = &packet->segs[0];
	bool ip = here >= want->ip_end, up = here >= want->l4_end;
	uint8_t proto = 0;
	int at4 = offset_of(packet, ipv4(pkt)), at6 = offset_of(packet, ipv6(pkt));
	int at = offset_of(packet, l4(pkt, &proto));

	if (at4 != (ip ? want->ip4 : -1) || at6 != (ip ? want->ip6 : -1) ||
	    at != (up ? want->l4 : -1) || (at >= 0 && proto != want->proto)) {
		fprintf(stderr, "%s: %u here: %d %d %d %u\n", want->name, here, at4, at6, at,
			proto);
		CU_FAIL("not what was expected");
	}
}

static void good_packets(void)
{
	for (unsigned i = 0; i < RTE_DIM(good); i++) {
		uint32_t n;
		uint8_t *bytes = from_hex(good[i].hex, &n);

		// Wherever the first segment ends, from its Ethernet header on.
		for (uint32_t first = 14; first <= n; first++) {
			struct packet *packet = packet_new(bytes, n, first);

			expect(&good[i], packet, first);
			packet_free(packet);
		}
		free(bytes);
	}
}

// Cut anywhere, a packet is none: its lengths go beyond its end.
static void cut_packets(void)
{
	for (unsigned i = 0; i < RTE_DIM(good); i++) {
		uint32_t n;
		uint8_t *bytes = from_hex(good[i].hex, &n), proto;

		for (uint32_t cut = 14; cut < n; cut++) {
			struct packet *packet = packet_new(bytes, cut, cut);
			int at = offset_of(packet, l4(&packet->segs[0], &proto));

			CU_ASSERT(at < 0 || (unsigned)at + 4 <= cut);
			if (cut < n - good[i].behind)
				CU_ASSERT(!ipv4(&packet->segs[0]) && !ipv6(&packet->segs[0]) &&
					  at < 0);
			packet_free(packet);
		}
		free(bytes);
	}
}

static void bad_packets(void)
{
	for (unsigned i = 0; i < RTE_DIM(bad); i++) {
		struct expected none = bad[i];
		uint32_t n;
		uint8_t *bytes = from_hex(none.hex, &n);

		none.ip4 = none.ip6 = none.l4 = -1;
		for (uint32_t first = 14; first <= n; first++) {
			struct packet *packet = packet_new(bytes, n, first);

			expect(&none, packet, first);
			packet_free(packet);
		}
		free(bytes);
	}
}

// 33 fragment headers, each whole by itself, are more than are walked; 16 are not.
static void extension_chains(void)
{
	for (unsigned headers = 15; headers <= 33; headers++) {
		uint32_t n, head;
		uint8_t *bytes = from_hex(MACS IP6("0000", "2c"), &n), proto;
		uint8_t *udp = from_hex(UDP, &head);
		struct packet *packet;

		bytes = realloc(bytes, n + 8 * headers + head);
		bytes[18] = (8 * headers + head) >> 8;
		bytes[19] = 8 * headers + head;
		for (unsigned i = 0; i < headers; i++, n += 8)
			memcpy(bytes + n,
			       i + 1 < headers ? "\x2c\0\0\0\0\0\0\0" : "\x11\0\0\0\0\0\0\0", 8);
		memcpy(bytes + n, udp, head);
		packet = packet_new(bytes, n + head, n + head);
		CU_ASSERT_PTR_NOT_NULL(ipv6(&packet->segs[0]));
		CU_ASSERT(!l4(&packet->segs[0], &proto) == (headers > IP6_EXTENSIONS_MAX));
		packet_free(packet);
		free(bytes);
		free(udp);
	}
}

static void tags(void)
{
	uint32_t n;
	uint8_t *bytes = from_hex(MACS "88a8a0640800", &n);
	struct packet *packet = packet_new(bytes, n, n), *cut = packet_new(bytes, n, 17);
	struct rte_vlan_hdr *tag = vlan(&packet->segs[0]);

	CU_ASSERT_PTR_NOT_NULL_FATAL(tag);
	CU_ASSERT_EQUAL(vlan_id(tag), 100);
	CU_ASSERT_EQUAL(tag->vlan_tci, RTE_BE16(0xa064));
	CU_ASSERT_EQUAL(tag->eth_proto, RTE_BE16(0x0800));
	CU_ASSERT_PTR_NULL(vlan(&cut->segs[0]));
	packet_free(packet);
	packet_free(cut);
	bytes[12] = 0x08;
	packet = packet_new(bytes, n, n);
	CU_ASSERT_PTR_NULL(vlan(&packet->segs[0]));
	packet_free(packet);
	free(bytes);
}

// What is found lies in what can be read; the sanitizer sees what is read besides.
static void probe(const uint8_t *bytes, uint32_t n, uint32_t first)
{
	struct packet *packet = packet_new(bytes, n, first);
	struct rte_mbuf *pkt = &packet->segs[0];
	int at4 = offset_of(packet, ipv4(pkt)), at6 = offset_of(packet, ipv6(pkt)), at;
	uint8_t proto, copy[128];
	struct view view;

	CU_ASSERT(at4 < 0 || (unsigned)at4 + 20 <= first);
	CU_ASSERT(at6 < 0 || (unsigned)at6 + 40 <= first);
	CU_ASSERT(at4 < 0 || at6 < 0);
	at = offset_of(packet, l4(pkt, &proto));
	CU_ASSERT(at < 0 || (at > RTE_MAX(at4, at6) && (unsigned)at + 4 <= first));
	vlan(pkt);
	view = packet_peek(pkt, copy, sizeof(copy));
	CU_ASSERT(view.here >= RTE_MIN(n, sizeof(copy)));
	CU_ASSERT(!memcmp(view.bytes, bytes, view.here));
	packet_free(packet);
}

// Good packets with some bytes changed, cut and split anywhere.
static void nonsense(void)
{
	unsigned seed = 1;

	for (unsigned round = 0; round < 20000; round++) {
		uint32_t n;
		uint8_t *bytes = from_hex(good[rand_r(&seed) % RTE_DIM(good)].hex, &n);

		for (unsigned i = rand_r(&seed) % 4; i; i--)
			bytes[12 + rand_r(&seed) % (n - 12)] = rand_r(&seed);
		n = 14 + rand_r(&seed) % (n - 13);
		probe(bytes, n, 14 + rand_r(&seed) % (n - 13));
		free(bytes);
	}
}

static bool captured(const char *name)
{
	char path[256], why[PCAP_ERRBUF_SIZE];
	struct pcap_pkthdr *header;
	const u_char *bytes;
	pcap_t *pcap;

	snprintf(path, sizeof(path), "../shared/pcaps/%s", name);
	pcap = pcap_open_offline(path, why);
	if (!pcap)
		return false;
	while (pcap_next_ex(pcap, &header, &bytes) == 1) {
		uint32_t n = RTE_MIN(header->caplen, 60000u);

		for (uint32_t first = 14; first <= n && first < 150; first++)
			probe(bytes, n, first);
		if (n >= 14)
			probe(bytes, n, n);
	}
	pcap_close(pcap);
	return true;
}

static void captures(void)
{
	static const char *const names[] = {
	    "ihl_lt5.pcap",  "totlen_lt_ihl.pcap", "totlen_gt_wire.pcap", "ip6_33frag.pcap",
	    "ipopts.pcap",   "frag_syn.pcap",	   "fuzz2594.pcap",	  "vlan_mix.pcap",
	    "tso_len0.pcap", "qinq88a8.pcap",	   "jumbo9230.pcap",	  "zerolen.pcap",
	    "snap20.pcap",
	};

	for (unsigned i = 0; i < RTE_DIM(names); i++)
		if (!captured(names[i])) {
			test_skip("no ../shared/pcaps");
			return;
		}
}

// An independent sum over the whole header.
static uint16_t sum_of(const uint8_t *bytes, unsigned n)
{
	uint32_t sum = 0;

	for (unsigned i = 0; i < n; i += 2)
		sum += bytes[i] << 8 | bytes[i + 1];
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return ~sum;
}

static void checksums(void)
{
	unsigned seed = 7;

	for (unsigned round = 0; round < 10000; round++) {
		uint8_t bytes[20], was[20];
		unsigned at = rand_r(&seed) % 10 * 2, n = 2 + rand_r(&seed) % ((20 - at) / 2) * 2;
		uint16_t before, after;

		for (unsigned i = 0; i < 20; i++)
			bytes[i] =
			    rand_r(&seed) % 3 ? (uint8_t)rand_r(&seed) : (uint8_t) - (round % 2);
		memcpy(was, bytes, sizeof(was));
		before = sum_of(bytes, 20);
		for (unsigned i = at; i < at + n; i++)
			bytes[i] = rand_r(&seed);
		after = rte_be_to_cpu_16(
		    checksum_update(rte_cpu_to_be_16(before), was + at, bytes + at, n));
		// 0 and 0xffff are the same number; only an all-zero header sums to 0xffff.
		CU_ASSERT(after == sum_of(bytes, 20) || (uint16_t)(after + 1) <= 1);
	}
}

static const CU_TestInfo packet_cases[] = {
    {"good packets, split anywhere", good_packets},
    {"good packets, cut anywhere", cut_packets},
    {"bad packets", bad_packets},
    {"long chains of extension headers", extension_chains},
    {"VLAN tags", tags},
    {"nonsense", nonsense},
    {"captures", captures},
    {"checksums after a change", checksums},
    CU_TEST_INFO_NULL,
};
SUITE(packet, packet_cases)
