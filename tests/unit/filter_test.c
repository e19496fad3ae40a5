// SPDX-License-Identifier: BSD-3-Clause
// Filter's machine code against libpcap's interpreter: the same answer for expressions of all
// kinds, chosen and random, on recorded packets, whole, cut and in segments.

#include <stdlib.h>
#include <string.h>

#include "module.h"
#undef MODULE
#define MODULE(VAR) __attribute__((unused)) static const struct module_type *VAR##_type = &(VAR);
#include "../../modules/filter.c" // NOLINT(bugprone-suspicious-include)
#include "suite.h"
#include "value/errors.h"

#define PACKETS 300

static struct rte_mempool *pool;
static struct rte_mbuf *packets[PACKETS];
static uint8_t *contents[PACKETS];
static unsigned n_packets;
static unsigned seed = 1;

static unsigned any(unsigned n)
{
	return rand_r(&seed) % n;
}

// In one segment, or in several of up to 80 bytes, the first of 14 at least.
static struct rte_mbuf *packet_of(const uint8_t *bytes, uint32_t n)
{
	struct rte_mbuf *pkt = rte_pktmbuf_alloc(pool), *seg = pkt;
	bool whole = n < 1800 && any(2);

	for (uint32_t done = 0, part; done < n; done += part) {
		part = whole ? n : 14 + any(n > 1800 ? 1000 : 67);
		part = RTE_MIN(part, n - done);
		if (done) {
			seg->next = rte_pktmbuf_alloc(pool);
			seg = seg->next;
			pkt->nb_segs++;
		}
		memcpy(rte_pktmbuf_mtod(seg, uint8_t *), bytes + done, part);
		seg->data_len = part;
	}
	pkt->pkt_len = n;
	return pkt;
}

// A packet as it is, and once more cut or changed.
static void packet_add(const uint8_t *bytes, uint32_t n)
{
	for (unsigned twice = 0; twice < 2 && n >= 14 && n_packets < PACKETS; twice++) {
		uint8_t *copy = malloc(n);

		memcpy(copy, bytes, n);
		if (twice && any(2))
			n = 14 + any(n - 13);
		else if (twice)
			copy[12 + any(RTE_MIN(n, 60u) - 12)] = any(256);
		contents[n_packets] = copy;
		packets[n_packets++] = packet_of(copy, n);
	}
}

static void capture_add(const char *path, unsigned most)
{
	char why[PCAP_ERRBUF_SIZE];
	pcap_t *pcap = pcap_open_offline(path, why);
	struct pcap_pkthdr *header;
	const u_char *bytes;

	while (pcap && most && pcap_next_ex(pcap, &header, &bytes) == 1)
		if (header->caplen < 20000) {
			packet_add(bytes, header->caplen);
			most--;
		}
	if (pcap)
		pcap_close(pcap);
}

static void packets_open(void)
{
	static const char *const shared[] = {"fuzz2594",   "vlan_mix", "ipopts",    "frag_syn",
					     "ip6_33frag", "qinq88a8", "jumbo9230", "ihl_lt5"};

	pool = rte_pktmbuf_pool_create("filter_test", 8191, 0, 0, 2048 + 128, SOCKET_ID_ANY);
	CU_ASSERT_PTR_NOT_NULL_FATAL(pool);
	capture_add("graphs/data/demo.pcap", 70);
	for (unsigned i = 0; i < RTE_DIM(shared); i++) {
		char path[64];

		snprintf(path, sizeof(path), "../shared/pcaps/%s.pcap", shared[i]);
		capture_add(path, 10);
	}
	CU_ASSERT_FATAL(n_packets >= 100);
}

static void packets_close(void)
{
	for (; n_packets; n_packets--) {
		rte_pktmbuf_free(packets[n_packets - 1]);
		free(contents[n_packets - 1]);
	}
	CU_ASSERT_EQUAL(rte_mempool_in_use_count(pool), 0);
	rte_mempool_free(pool);
}

// Compares all ways on all packets; whether there was machine code. -1: no such expression.
static int compare(const char *expression)
{
	struct filter_params params = {.expression = expression};
	struct filter filter = {0};
	struct node node = {.params = &params, .state = &filter};
	struct errors *errors = errors_new();
	int with_code = -1;

	filter_check(&params, errors);
	if (!errors_count(errors)) {
		CU_ASSERT_FATAL(!filter_open(&node, errors));
		with_code = filter.run != NULL;
		for (unsigned i = 0; i < n_packets; i++) {
			uint32_t n = packets[i]->pkt_len;
			bool match = bpf_filter(filter.program.bf_insns, contents[i], n, n);

			if (filter_interpret(filter.program.bf_insns, packets[i]) != match ||
			    (filter.run && (filter.run(packets[i]) != 0) != match)) {
				fprintf(stderr, "%s: packet %u\n", expression, i);
				CU_FAIL("another answer than libpcap's");
			}
		}
		filter_close(&node);
	}
	errors_free(errors);
	return with_code;
}

static void chosen(void)
{
	static const char *const code[] = {
	    "ip",
	    "not ip6",
	    "arp or icmp",
	    "udp port 53",
	    "tcp and dst port 80",
	    "vlan",
	    "vlan 5 and ip",
	    "vlan and vlan and tcp",
	    "ether multicast",
	    "ether broadcast",
	    "host 10.0.0.1",
	    "net 192.168.0.0/16",
	    "ip6 net fe80::/10",
	    "portrange 1-1024",
	    "tcp[tcpflags] & (tcp-syn|tcp-fin) != 0",
	    "tcp[13] & 2 != 0",
	    "udp[8:4] > 77",
	    "ip[6:2] & 0x1fff != 0",
	    "ip[8] & 0x80 = 0",
	    "ip[1] & 3 = 0",
	    "len > 100",
	    "ip[12:4] > 0x80000000",
	    "ip[8] * 3 - 5 > ip[9] / 2",
	    "ip[12:4] % 7 = 3",
	    "icmp[0] = 8",
	    "ether[60000] = 1",
	    "ether[500:4] & 1 = 0",
	    "less 64",
	    // The lengths of its jumps do not settle.
	    "((((ip6 proto 17) or (((ip6[20:4] % 0x10000) ^ 256) <= 1000)) and ((ip6 host fe80::1) "
	    "or "
	    "((udp[9:4] % 10) >= 0xffffffff))) and ((not (((5 >> 13) / 0x10000) > 0x10000)) or "
	    "(ether[0:2] < 0x10000))) or (not (((ip[6:1] = 0x10000) and (ether broadcast)) or "
	    "((len & 255) > 1)))",
	};
	static const char *const no_code[] = {
	    "ip[ip[2:2]] = 0",
	    "ip[ip[12:4]:4] = 0",
	    "ether[2147483647] = 0",
	    "ip6 protochain 6",
	    "tcp[((tcp[12] & 0xf0) >> 2):4] = 0x47455420",
	    "ip[12:4] << ip[8] != 0",
	};

	packets_open();
	for (unsigned i = 0; i < RTE_DIM(code); i++)
		CU_ASSERT_EQUAL(compare(code[i]), 1);
	for (unsigned i = 0; i < RTE_DIM(no_code); i++)
		CU_ASSERT_EQUAL(compare(no_code[i]), 0);
	packets_close();
}

// Random expressions, for what chosen ones do not think of (the lengths of jumps).
static void expression_add(char *to, unsigned depth)
{
	static const char *const terms[] = {
	    "ip",
	    "ip6",
	    "tcp",
	    "udp",
	    "arp",
	    "port 53",
	    "src port 80",
	    "portrange 20-1024",
	    "host 10.0.0.1",
	    "net 10.0.0.0/8",
	    "ip6 host fe80::1",
	    "less 100",
	    "ether multicast",
	    "tcp[13] & 2 != 0",
	    "udp[8] & 0x80 = 0",
	    "ip[1] & 3 = 1",
	    "ip[6:2] & 0x1fff = 0",
	    "ether[0:4] > 0x80000000",
	    "ip[2:2] + 14 = len",
	    "ip[8] / 3 > ip[9] % 5",
	    "tcp[2:2] ^ 80 = 0",
	    "ip[16:4] & 0xff = 1",
	    "vlan",
	    "mpls",
	};

	if (!any(3) || depth > 4) {
		strcat(to, terms[any(RTE_DIM(terms))]);
		return;
	}
	strcat(to, any(5) ? "(" : "not (");
	expression_add(to, depth + 1);
	strcat(to, any(2) ? ") and (" : ") or (");
	expression_add(to, depth + 1);
	strcat(to, ")");
}

static void random_ones(void)
{
	unsigned with_code = 0;

	packets_open();
	for (unsigned i = 0; i < 1500; i++) {
		char expression[4096] = "";

		expression_add(expression, 0);
		with_code += compare(expression) == 1;
	}
	CU_ASSERT(with_code > 700);
	packets_close();
}

// With a hundred alternatives the checker would walk for hours.
static void long_ones(void)
{
	char *expression = calloc(1, 1 << 16), *at = expression;

	packets_open();
	for (unsigned i = 0; i < 100; i++)
		at +=
		    sprintf(at, "%s(net 10.%u.0.0/16 and tcp dst port %u)", i ? " or " : "", i, i);
	CU_ASSERT_EQUAL(compare(expression), 0);
	packets_close();
	free(expression);
}

static void refusals(void)
{
	static const struct {
		const char *expression, *text;
	} bad[] = {
	    {"udpp", "\"udpp\" is no pcap-filter expression: "},
	    {"udp port 99999", "illegal port number"},
	    {"(", "syntax error"},
	    {"ip[8] / 0 = 1", "division by zero"},
	    {"inbound", "\"inbound\" asks for what is not in a packet's bytes"},
	    {"ifindex 3", "\"ifindex 3\" asks for what is not in a packet's bytes"},
	};

	for (unsigned i = 0; i < RTE_DIM(bad); i++) {
		struct filter_params params = {.expression = bad[i].expression};
		struct errors *errors = errors_new();
		char *text;

		filter_check(&params, errors);
		CU_ASSERT_EQUAL(errors_exit_code(errors), ERROR_INPUT);
		text = errors_text(errors);
		CU_ASSERT_PTR_NOT_NULL(strstr(text, bad[i].text));
		free(text);
		errors_free(errors);
	}
}

static const CU_TestInfo filter_cases[] = {
    {"chosen expressions", chosen},
    {"random expressions", random_ones},
    {"a very long expression", long_ones},
    {"refused at check time", refusals},
    CU_TEST_INFO_NULL,
};
SUITE(filter, filter_cases, .eal = true)
