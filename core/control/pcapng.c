// SPDX-License-Identifier: BSD-3-Clause
// Writes blocks of pcapng, in the byte order of this machine, as the format allows.

#include "control/pcapng.h"

#include <string.h>

enum { // of options
	END = 0,
	COMMENT = 1,
	SECTION_HARDWARE = 2,
	SECTION_OS = 3,
	SECTION_APPLICATION = 4,
	INTERFACE_NAME = 2,
	INTERFACE_DESCRIPTION = 3,
	INTERFACE_RESOLUTION = 9,
	INTERFACE_FILTER = 11,
	PACKET_FLAGS = 2,
	STATISTICS_START = 2,
	STATISTICS_END = 3,
	STATISTICS_RECEIVED = 4,
	STATISTICS_DROPPED = 5,
	STATISTICS_ACCEPTED = 6,
	STATISTICS_DELIVERED = 8,
};

#define BYTE_ORDER_MAGIC 0x1a2b3c4du
#define ETHERNET 1
#define NANOSECONDS 9
#define FILTER_OF_LIBPCAP 0

static uint8_t *put(uint8_t *at, const void *bytes, size_t n)
{
	memcpy(at, bytes, n);
	return at + n;
}

static uint8_t *put16(uint8_t *at, uint16_t n)
{
	return put(at, &n, sizeof(n));
}

static uint8_t *put32(uint8_t *at, uint32_t n)
{
	return put(at, &n, sizeof(n));
}

// As two words, the high one first.
static uint8_t *put_time(uint8_t *at, uint64_t ns)
{
	return put32(put32(at, (uint32_t)(ns >> 32)), (uint32_t)ns);
}

static uint8_t *pad(uint8_t *at, size_t n)
{
	while (n++ % 4)
		*at++ = 0;
	return at;
}

static uint8_t *option(uint8_t *at, uint16_t code, const void *bytes, uint16_t n)
{
	return pad(put(put16(put16(at, code), n), bytes, n), n);
}

static uint8_t *option_text(uint8_t *at, uint16_t code, const char *text)
{
	return text ? option(at, code, text, (uint16_t)strnlen(text, PCAPNG_TEXT_MAX)) : at;
}

static uint8_t *option_u64(uint8_t *at, uint16_t code, uint64_t n)
{
	return option(at, code, &n, sizeof(n));
}

static uint8_t *option_time(uint8_t *at, uint16_t code, uint64_t ns)
{
	return put_time(put16(put16(at, code), sizeof(ns)), ns);
}

static uint8_t *option_end(uint8_t *at)
{
	return put16(put16(at, END), 0);
}

static uint8_t *block_begin(uint8_t *to, enum pcapng_type type)
{
	return put32(to, type) + sizeof(uint32_t);
}

// The length stands at both ends.
static size_t block_end(uint8_t *to, uint8_t *at)
{
	uint32_t length = (uint32_t)(at + sizeof(length) - to);

	put32(to + sizeof(uint32_t), length);
	put32(at, length);
	return length;
}

size_t pcapng_section(uint8_t *to, const struct pcapng_section *section)
{
	const uint64_t unknown_length = UINT64_MAX;
	uint8_t *at = block_begin(to, PCAPNG_SECTION);

	at = put16(put16(put32(at, BYTE_ORDER_MAGIC), 1), 0);
	at = put(at, &unknown_length, sizeof(unknown_length));
	at = option_text(at, COMMENT, section->comment);
	at = option_text(at, SECTION_HARDWARE, section->hardware);
	at = option_text(at, SECTION_OS, section->os);
	at = option_text(at, SECTION_APPLICATION, section->application);
	return block_end(to, option_end(at));
}

size_t pcapng_interface(uint8_t *to, const struct pcapng_interface *interface)
{
	const uint8_t resolution = NANOSECONDS;
	uint8_t *at = block_begin(to, PCAPNG_INTERFACE);

	at = put32(put16(put16(at, ETHERNET), 0), interface->snaplen);
	at = option_text(at, INTERFACE_NAME, interface->name);
	at = option_text(at, INTERFACE_DESCRIPTION, interface->description);
	at = option(at, INTERFACE_RESOLUTION, &resolution, sizeof(resolution));
	if (interface->filter) {
		uint16_t n = (uint16_t)strnlen(interface->filter, PCAPNG_TEXT_MAX);

		at = put16(put16(at, INTERFACE_FILTER), n + 1);
		*at++ = FILTER_OF_LIBPCAP;
		at = pad(put(at, interface->filter, n), n + 1u);
	}
	return block_end(to, option_end(at));
}

size_t pcapng_packet(uint8_t *to, const struct pcapng_packet *packet)
{
	uint8_t *at = block_begin(to, PCAPNG_PACKET);
	const uint32_t flags = packet->direction;

	at = put_time(put32(at, packet->interface), packet->time_ns);
	at = put32(put32(at, packet->captured), packet->length);
	at = pad(put(at, packet->bytes, packet->captured), packet->captured);
	if (flags)
		at = option_end(option(at, PACKET_FLAGS, &flags, sizeof(flags)));
	return block_end(to, at);
}

size_t pcapng_statistics(uint8_t *to, const struct pcapng_statistics *statistics)
{
	uint8_t *at = block_begin(to, PCAPNG_STATISTICS);

	at = put_time(put32(at, statistics->interface), statistics->time_ns);
	at = option_text(at, COMMENT, statistics->comment);
	at = option_time(at, STATISTICS_START, statistics->start_ns);
	at = option_time(at, STATISTICS_END, statistics->end_ns);
	at = option_u64(at, STATISTICS_RECEIVED, statistics->received);
	at = option_u64(at, STATISTICS_DROPPED, statistics->dropped);
	at = option_u64(at, STATISTICS_ACCEPTED, statistics->accepted);
	at = option_u64(at, STATISTICS_DELIVERED, statistics->delivered);
	return block_end(to, option_end(at));
}

static uint32_t get32(const uint8_t *at)
{
	uint32_t n;

	memcpy(&n, at, sizeof(n));
	return n;
}

static uint64_t get_time(const uint8_t *at)
{
	return (uint64_t)get32(at) << 32 | get32(at + 4);
}

int64_t pcapng_block(const uint8_t *bytes, size_t n)
{
	uint32_t length;

	if (n < 12)
		return 0;
	length = get32(bytes + 4);
	if (length < 12 || length % 4 || length > PCAPNG_BLOCK_LIMIT ||
	    (get32(bytes) == PCAPNG_SECTION && get32(bytes + 8) != BYTE_ORDER_MAGIC))
		return -1;
	if (n < length)
		return 0;
	return get32(bytes + length - 4) == length ? (int64_t)length : -1;
}

enum pcapng_type pcapng_type(const uint8_t *block)
{
	return get32(block);
}

bool pcapng_packet_read(const uint8_t *block, size_t n, struct pcapng_packet *packet)
{
	size_t options;

	if (n < 32 || pcapng_type(block) != PCAPNG_PACKET)
		return false;
	*packet = (struct pcapng_packet){.interface = get32(block + 8),
					 .time_ns = get_time(block + 12),
					 .captured = get32(block + 20),
					 .length = get32(block + 24),
					 .bytes = block + 28};
	if (packet->captured > n - 32)
		return false;
	options = 28 + (((size_t)packet->captured + 3) & ~(size_t)3);
	if (options + 16 <= n && get32(block + options) == (PACKET_FLAGS | 4u << 16))
		packet->direction = get32(block + options + 4) & 3;
	return true;
}

// The option of a block whose options begin at `at`; NULL: there is none.
static const uint8_t *option_find(const uint8_t *block, size_t n, size_t at, uint16_t code,
				  uint16_t *length)
{
	while (at + 8 <= n) {
		uint32_t head = get32(block + at);
		size_t here = head >> 16;

		if (at + 4 + here + 4 > n || (head & 0xffff) == END)
			return NULL;
		*length = (uint16_t)here;
		if ((head & 0xffff) == code)
			return block + at + 4;
		at += 4 + ((here + 3) & ~(size_t)3);
	}
	return NULL;
}

static bool option_get(const uint8_t *block, size_t n, size_t at, uint16_t code, char *text,
		       size_t size)
{
	uint16_t length;
	const uint8_t *found = option_find(block, n, at, code, &length);

	if (!found || length >= size)
		return false;
	memcpy(text, found, length);
	text[length] = '\0';
	return true;
}

static uint64_t option_number(const uint8_t *block, size_t n, uint16_t code)
{
	uint16_t length;
	const uint8_t *found = option_find(block, n, 20, code, &length);
	uint64_t number = 0;

	if (found && length == sizeof(number))
		memcpy(&number, found, sizeof(number));
	return number;
}

bool pcapng_statistics_read(const uint8_t *block, size_t n, struct pcapng_statistics *statistics,
			    char comment[PCAPNG_TEXT_MAX + 1])
{
	if (n < 24 || pcapng_type(block) != PCAPNG_STATISTICS)
		return false;
	*statistics =
	    (struct pcapng_statistics){.interface = get32(block + 8),
				       .time_ns = get_time(block + 12),
				       .received = option_number(block, n, STATISTICS_RECEIVED),
				       .accepted = option_number(block, n, STATISTICS_ACCEPTED),
				       .dropped = option_number(block, n, STATISTICS_DROPPED),
				       .delivered = option_number(block, n, STATISTICS_DELIVERED)};
	if (option_get(block, n, 20, COMMENT, comment, PCAPNG_TEXT_MAX + 1))
		statistics->comment = comment;
	return true;
}

bool pcapng_interface_name(const uint8_t *block, size_t n, char *name, size_t size)
{
	return n >= 20 && pcapng_type(block) == PCAPNG_INTERFACE &&
	       option_get(block, n, 16, INTERFACE_NAME, name, size);
}
