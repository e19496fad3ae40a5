// SPDX-License-Identifier: BSD-3-Clause
// Blocks of pcapng: the bytes that the draft asks for, what libpcap and our own reader read back,
// and damaged ones.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pcap/pcap.h>

#include "control/pcapng.h"
#include "suite.h"

static uint8_t room[2 * PCAPNG_BLOCK_MAX];

// A section is written after the draft's figure 9, with one option.
static void section_bytes(void)
{
	static const uint8_t expected[] = {
	    0x0a, 0x0d, 0x0d, 0x0a, 40,	  0,	0,    0,    0x4d, 0x3c, 0x2b, 0x1a, 1,	0, 0, 0,
	    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, // the section's length is not known
	    4,	  0,	3,    0,    'a',  'b',	'c',  0,    0,	  0,	0,    0,    40, 0, 0, 0,
	};
	const struct pcapng_section section = {.application = "abc"};

	CU_ASSERT_EQUAL(pcapng_section(room, &section), sizeof(expected));
	CU_ASSERT(!memcmp(room, expected, sizeof(expected)));
}

static void interface_bytes(void)
{
	static const uint8_t expected[] = {
	    1,	0, 0, 0, 52, 0,	  0,   0,   1,	 0,   0,   0, 0, 0,
	    4,	0, 2, 0, 5,  0,	  'r', 'x', '[', '0', ']', 0, 0, 0, // if_name
	    9,	0, 1, 0, 9,  0,	  0,   0,			    // if_tsresol: 10^-9
	    11, 0, 4, 0, 0,  'u', 'd', 'p', // if_filter: a string of libpcap's
	    0,	0, 0, 0, 52, 0,	  0,   0,
	};
	const struct pcapng_interface interface = {
	    .name = "rx[0]", .filter = "udp", .snaplen = 262144};

	CU_ASSERT_EQUAL(pcapng_interface(room, &interface), sizeof(expected));
	CU_ASSERT(!memcmp(room, expected, sizeof(expected)));
}

static void packet_bytes(void)
{
	static const uint8_t expected[] = {
	    6,	  0,	0,    0,    52,	  0,	0,    0,    3,	 0,   0,   0,
	    0x44, 0x33, 0x22, 0x11, 0x88, 0x77, 0x66, 0x55, // the high word first
	    5,	  0,	0,    0,    64,	  0,	0,    0,    'h', 'e', 'l', 'l',
	    'o',  0,	0,    0,    2,	  0,	4,    0,    2,	 0,   0,   0, // epb_flags: outbound
	    0,	  0,	0,    0,    52,	  0,	0,    0,
	};
	struct pcapng_packet packet = {.interface = 3,
				       .time_ns = 0x1122334455667788,
				       .captured = 5,
				       .length = 64,
				       .direction = PCAPNG_OUTBOUND,
				       .bytes = (const uint8_t *)"hello"};

	CU_ASSERT_EQUAL(pcapng_packet(room, &packet), sizeof(expected));
	CU_ASSERT(!memcmp(room, expected, sizeof(expected)));
	CU_ASSERT_EQUAL(pcapng_packet_size(5, PCAPNG_OUTBOUND), sizeof(expected));
	packet.direction = PCAPNG_UNKNOWN;
	CU_ASSERT_EQUAL(pcapng_packet(room, &packet), sizeof(expected) - 12);
}

static void statistics_bytes(void)
{
	static const uint8_t expected[] = {
	    5, 0, 0, 0, 108, 0, 0, 0, 1, 0, 0,	 0,   0,   0,
	    0, 0, 9, 0, 0,   0, 1, 0, 4, 0, 'g', 'o', 'n', 'e', // opt_comment
	    2, 0, 8, 0, 0,   0, 0, 0, 7, 0, 0,	 0,		// isb_starttime
	    3, 0, 8, 0, 0,   0, 0, 0, 8, 0, 0,	 0,		// isb_endtime
	    4, 0, 8, 0, 100, 0, 0, 0, 0, 0, 0,	 0,		// isb_ifrecv
	    5, 0, 8, 0, 2,   0, 0, 0, 0, 0, 0,	 0,		// isb_ifdrop
	    6, 0, 8, 0, 50,  0, 0, 0, 0, 0, 0,	 0,		// isb_filteraccept
	    8, 0, 8, 0, 48,  0, 0, 0, 0, 0, 0,	 0,		// isb_usrdeliv
	    0, 0, 0, 0, 108, 0, 0, 0,
	};
	const struct pcapng_statistics statistics = {.interface = 1,
						     .time_ns = 9,
						     .start_ns = 7,
						     .end_ns = 8,
						     .received = 100,
						     .accepted = 50,
						     .dropped = 2,
						     .delivered = 48,
						     .comment = "gone"};

	CU_ASSERT_EQUAL(pcapng_statistics(room, &statistics), sizeof(expected));
	CU_ASSERT(!memcmp(room, expected, sizeof(expected)));
}

// Texts that no option can hold are cut, and the block stays whole.
static void long_texts_are_cut(void)
{
	char text[PCAPNG_TEXT_MAX + 101];
	const struct pcapng_section section = {
	    .hardware = text, .os = text, .application = text, .comment = text};
	size_t n;

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	n = pcapng_section(room, &section);
	CU_ASSERT(n > 4 * PCAPNG_TEXT_MAX && n < PCAPNG_BLOCK_MAX);
	CU_ASSERT_EQUAL(pcapng_block(room, n), (int64_t)n);
}

// What was written, read by our own reader.
static void blocks_come_back(void)
{
	static char comment[PCAPNG_TEXT_MAX + 1];
	const struct pcapng_interface interface = {.name = "cls[miss]", .description = "a -> b"};
	const struct pcapng_statistics statistics = {
	    .interface = 7, .received = 1ULL << 40, .dropped = 3, .comment = "why"};
	struct pcapng_statistics read;
	struct pcapng_packet packet = {.time_ns = 1234567890123456789, .length = 9000};
	char name[32], small[4];
	size_t n = pcapng_interface(room, &interface);

	CU_ASSERT_TRUE(pcapng_interface_name(room, n, name, sizeof(name)));
	CU_ASSERT_STRING_EQUAL(name, "cls[miss]");
	CU_ASSERT_FALSE(pcapng_interface_name(room, n, small, sizeof(small)));
	CU_ASSERT_FALSE(pcapng_packet_read(room, n, &packet));
	n = pcapng_statistics(room, &statistics);
	CU_ASSERT_TRUE_FATAL(pcapng_statistics_read(room, n, &read, comment));
	CU_ASSERT(read.interface == 7 && read.received == 1ULL << 40 && read.dropped == 3);
	CU_ASSERT_STRING_EQUAL(read.comment, "why");
	for (uint32_t length = 0; length < 70; length++) {
		uint8_t bytes[70];
		struct pcapng_packet back;

		memset(bytes, (int)length, sizeof(bytes));
		packet.captured = length;
		packet.bytes = bytes;
		packet.direction = length % 3;
		n = pcapng_packet(room, &packet);
		CU_ASSERT_EQUAL(n, pcapng_packet_size(length, packet.direction));
		CU_ASSERT_EQUAL(pcapng_block(room, n), (int64_t)n);
		CU_ASSERT_EQUAL(pcapng_block(room, n - 1), 0);
		CU_ASSERT_TRUE_FATAL(pcapng_packet_read(room, n, &back));
		CU_ASSERT(back.captured == length && back.direction == packet.direction &&
			  back.time_ns == packet.time_ns && back.length == 9000 &&
			  !memcmp(back.bytes, bytes, length));
	}
}

// A reader must not be led astray by any bytes: each block, with any one byte changed.
static void damage_is_seen(void)
{
	static char comment[PCAPNG_TEXT_MAX + 1];
	const struct pcapng_statistics statistics = {.comment = "a comment"};
	const struct pcapng_interface interface = {.name = "rx[0]", .filter = "udp"};
	const struct pcapng_packet packet = {.captured = 20, .length = 20, .bytes = room};
	size_t lengths[3];

	for (unsigned kind = 0; kind < 3; kind++) {
		size_t n = kind == 0   ? pcapng_statistics(room, &statistics)
			   : kind == 1 ? pcapng_interface(room, &interface)
				       : pcapng_packet(room + 100, &packet);

		lengths[kind] = n;
		if (kind == 2)
			memmove(room, room + 100, n);
		for (size_t i = 0; i < n * 255; i++) {
			uint8_t *block = malloc(n);
			struct pcapng_statistics a;
			struct pcapng_packet b;
			char name[8];

			memcpy(block, room, n);
			block[i / 255] = (uint8_t)(block[i / 255] + 1 + i % 255);
			CU_ASSERT(pcapng_block(block, n) <= (int64_t)n);
			pcapng_statistics_read(block, n, &a, comment);
			if (pcapng_packet_read(block, n, &b))
				CU_ASSERT(b.captured <= n);
			pcapng_interface_name(block, n, name, sizeof(name));
			free(block);
		}
	}
	CU_ASSERT(lengths[0] && lengths[1] && lengths[2]);
	memset(room, 0, 16);
	CU_ASSERT_EQUAL(pcapng_block(room, 16), -1); // a length of 0
	memset(room, 0xff, 16);
	CU_ASSERT_EQUAL(pcapng_block(room, 16), -1);
	CU_ASSERT_EQUAL(pcapng_block(room, 11), 0);
}

static void file_write(FILE *file, size_t n)
{
	CU_ASSERT_EQUAL(fwrite(room, 1, n, file), n);
}

// A file with interfaces at the start and between packets, and statistics at its end.
static void libpcap_reads_it(void)
{
	char path[] = "/tmp/sluice-pcapng-XXXXXX", why[PCAP_ERRBUF_SIZE];
	const struct pcapng_section section = {.application = "Sluice", .comment = "a test"};
	const struct pcapng_interface interface = {.name = "rx[0]", .snaplen = 262144};
	const struct pcapng_statistics statistics = {.received = 3};
	uint8_t bytes[300];
	int fd = mkstemp(path);
	FILE *file = fdopen(fd, "w");
	struct pcap_pkthdr *header;
	const u_char *got;
	pcap_t *pcap;

	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	file_write(file, pcapng_section(room, &section));
	for (uint32_t i = 0; i < 3; i++) {
		struct pcapng_packet packet = {.interface = i,
					       .time_ns = 1700000000123456789 + i,
					       .captured = 100 + i,
					       .length = 1000,
					       .direction = i,
					       .bytes = bytes};

		memset(bytes, (int)i, sizeof(bytes));
		file_write(file, pcapng_interface(room, &interface));
		file_write(file, pcapng_packet(room, &packet));
	}
	file_write(file, pcapng_statistics(room, &statistics));
	fclose(file);
	pcap = pcap_open_offline_with_tstamp_precision(path, PCAP_TSTAMP_PRECISION_NANO, why);
	CU_ASSERT_PTR_NOT_NULL_FATAL(pcap);
	CU_ASSERT_EQUAL(pcap_datalink(pcap), DLT_EN10MB);
	for (uint32_t i = 0; i < 3; i++) {
		CU_ASSERT_EQUAL_FATAL(pcap_next_ex(pcap, &header, &got), 1);
		CU_ASSERT_EQUAL(header->caplen, 100 + i);
		CU_ASSERT_EQUAL(header->len, 1000);
		CU_ASSERT_EQUAL(header->ts.tv_sec, 1700000000);
		CU_ASSERT_EQUAL(header->ts.tv_usec, 123456789 + i);
		memset(bytes, (int)i, sizeof(bytes));
		CU_ASSERT(!memcmp(got, bytes, header->caplen));
	}
	CU_ASSERT_EQUAL(pcap_next_ex(pcap, &header, &got), PCAP_ERROR_BREAK);
	pcap_close(pcap);
	unlink(path);
}

static const CU_TestInfo cases[] = {
    {"a section is written after the draft", section_bytes},
    {"an interface is written after the draft", interface_bytes},
    {"a packet is written after the draft", packet_bytes},
    {"statistics are written after the draft", statistics_bytes},
    {"long texts are cut", long_texts_are_cut},
    {"blocks come back as they were", blocks_come_back},
    {"damage is seen", damage_is_seen},
    {"libpcap reads it", libpcap_reads_it},
    CU_TEST_INFO_NULL,
};
SUITE(pcapng, cases)
