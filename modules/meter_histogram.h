// SPDX-License-Identifier: BSD-3-Clause
// The part of Meter that keeps latencies: a histogram in the layout of HdrHistogram, three
// significant digits from 1 ns to 100 s, and its text form (V2), which all of its libraries read
// and merge.

#ifndef SLUICE_METER_HISTOGRAM_H
#define SLUICE_METER_HISTOGRAM_H

#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "module.h"

#define METER_DIGITS 3
#define METER_MAX_NS 100000000000u
// 2048 values in the first bucket; each further one has 1024, twice as far apart.
#define METER_HALF_BITS 10u
#define METER_HALF (1u << METER_HALF_BITS)
#define METER_BUCKETS 27u
#define METER_COUNTS ((METER_BUCKETS + 1) * METER_HALF)

_Static_assert(2ull * METER_HALF << (METER_BUCKETS - 1) > METER_MAX_NS, "the buckets suffice");

struct meter_histogram {
	uint64_t *counts; // METER_COUNTS
	uint64_t n;
	uint64_t sum_ns;
	uint64_t min_ns;
	uint64_t max_ns;
};

// The place of a value up to METER_MAX_NS.
static inline unsigned meter_index(uint64_t value)
{
	unsigned bucket =
	    63 - METER_HALF_BITS - (unsigned)__builtin_clzll(value | (2 * METER_HALF - 1));

	return (bucket << METER_HALF_BITS) + (unsigned)(value >> bucket);
}

// The greatest value that has this place.
static inline uint64_t meter_value(unsigned index)
{
	unsigned bucket = index >> METER_HALF_BITS;

	bucket = bucket ? bucket - 1 : 0;
	return ((uint64_t)(index - (bucket << METER_HALF_BITS) + 1) << bucket) - 1;
}

// The value that so many of a million are at or below: that of the nearest rank.
static uint64_t meter_percentile(const struct meter_histogram *histogram, uint64_t millionths)
{
	unsigned __int128 rank = (unsigned __int128)histogram->n * millionths;
	uint64_t wanted = (uint64_t)((rank + 999999) / 1000000), seen = 0;

	if (!histogram->n)
		return 0;
	if (!wanted)
		return histogram->min_ns;
	for (unsigned i = 0; i < METER_COUNTS; i++) {
		seen += histogram->counts[i];
		if (seen >= wanted)
			return RTE_MIN(meter_value(i), histogram->max_ns);
	}
	return histogram->max_ns;
}

// LEB128 of the number in zigzag, at most 9 bytes.
static uint8_t *meter_put_number(uint8_t *to, int64_t number)
{
	uint64_t left = number < 0 ? ~((uint64_t)number << 1) : (uint64_t)number << 1;

	for (unsigned i = 0; i < 8 && left > 0x7f; i++, left >>= 7)
		*to++ = (uint8_t)(left | 0x80);
	*to++ = (uint8_t)left;
	return to;
}

static uint8_t *meter_put32(uint8_t *to, uint32_t number)
{
	number = rte_cpu_to_be_32(number);
	memcpy(to, &number, sizeof(number));
	return to + sizeof(number);
}

static uint8_t *meter_put64(uint8_t *to, uint64_t number)
{
	return meter_put32(meter_put32(to, (uint32_t)(number >> 32)), (uint32_t)number);
}

#define METER_HEAD 40u
#define METER_PLAIN_MAX (METER_HEAD + METER_COUNTS * 9)
#define METER_COOKIE 0x1c849313u
#define METER_COOKIE_ZLIB 0x1c849314u

// The histogram in the V2 form; the number of bytes, at most METER_PLAIN_MAX. A count is a number,
// several zeros in a row are one that is negative.
static size_t meter_encode(const struct meter_histogram *histogram, uint8_t *bytes)
{
	const double ratio = 1;
	uint8_t *counts = bytes + METER_HEAD, *at = counts;
	unsigned used = histogram->n ? meter_index(histogram->max_ns) + 1 : 0;
	uint64_t ratio_bits;

	for (unsigned i = 0; i < used;) {
		unsigned zeros = 0;

		while (i + zeros < used && !histogram->counts[i + zeros])
			zeros++;
		at = meter_put_number(at, zeros ? -(int64_t)zeros : (int64_t)histogram->counts[i]);
		i += zeros ? zeros : 1;
	}
	memcpy(&ratio_bits, &ratio, sizeof(ratio_bits));
	bytes = meter_put32(bytes, METER_COOKIE);
	bytes = meter_put32(bytes, (uint32_t)(at - counts));
	bytes = meter_put32(bytes, 0);
	bytes = meter_put32(bytes, METER_DIGITS);
	bytes = meter_put64(bytes, 1);
	bytes = meter_put64(bytes, METER_MAX_NS);
	meter_put64(bytes, ratio_bits);
	return METER_HEAD + (size_t)(at - counts);
}

static char *meter_base64(const uint8_t *bytes, size_t n)
{
	static const char digits[] =
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char *text = malloc((n + 2) / 3 * 4 + 1), *to = text;

	for (size_t i = 0; text && i < n; i += 3) {
		uint32_t three = (uint32_t)bytes[i] << 16;

		three |= i + 1 < n ? (uint32_t)bytes[i + 1] << 8 : 0;
		three |= i + 2 < n ? bytes[i + 2] : 0;
		*to++ = digits[three >> 18];
		*to++ = digits[three >> 12 & 63];
		*to++ = i + 1 < n ? digits[three >> 6 & 63] : '=';
		*to++ = i + 2 < n ? digits[three & 63] : '=';
	}
	if (text)
		*to = 0;
	return text;
}

// The text that HdrHistogram's logs have; the caller frees it. NULL without memory.
static char *meter_text(const struct meter_histogram *histogram, bool compressed)
{
	uLongf room = compressBound(METER_PLAIN_MAX);
	uint8_t *plain = malloc(METER_PLAIN_MAX), *packed = malloc(room + 8);
	char *text = NULL;

	if (plain && packed) {
		size_t n = meter_encode(histogram, plain);

		if (!compressed) {
			text = meter_base64(plain, n);
		} else if (compress2(packed + 8, &room, plain, n, 1) == Z_OK) {
			meter_put32(meter_put32(packed, METER_COOKIE_ZLIB), (uint32_t)room);
			text = meter_base64(packed, room + 8);
		}
	}
	free(plain);
	free(packed);
	return text;
}

#endif
