// SPDX-License-Identifier: BSD-3-Clause
// Single values as text and back: numbers, units, addresses, bytes in hexadecimal. Shared by the
// parts of the table code; others use table.h.

#ifndef SLUICE_VALUE_SCALAR_H
#define SLUICE_VALUE_SCALAR_H

#include "param.h"
#include "value/arena.h"

// The value of a hexadecimal digit, or 16.
static inline unsigned digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned)(c - '0');
	if (c >= 'a' && c <= 'f')
		return (unsigned)(c - 'a') + 10;
	return c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10 : 16;
}

// What a text is, read as a number or a quantity.
enum scan {
	SCAN_OK,
	SCAN_NOT,      // no such thing at all
	SCAN_NO_UNIT,  // a number alone, where a unit is needed
	SCAN_UNIT,     // a number with a unit that is none of these
	SCAN_FRACTION, // not a whole number (of the smallest unit)
	SCAN_NEGATIVE, // below 0
	SCAN_LARGE,    // 2^64 or more
	SCAN_FAULTS,
};

// Phrases that complete `"TEXT" ...`, by what scan found.
extern const char *const number_why[SCAN_FAULTS];
extern const char *const duration_why[SCAN_FAULTS];
extern const char *const bytes_why[SCAN_FAULTS];
extern const char *const rate_why[SCAN_FAULTS];

// Decimal, or hexadecimal after 0x. A negative number gives its magnitude and SCAN_NEGATIVE, and
// SCAN_LARGE with *negative set where that is 2^64 or more.
enum scan number_scan(const char *text, uint64_t *, bool *negative);
enum scan double_scan(const char *text, double *);
enum scan duration_scan(const char *text, struct duration *);
enum scan bytes_scan(const char *text, struct bytes *);
enum scan rate_scan(const char *text, struct rate *);

// The shortest exact text that scans to the same.
const char *double_text(struct arena *, double);
const char *duration_text(struct arena *, struct duration);
const char *bytes_text(struct arena *, struct bytes);
const char *rate_text(struct arena *, struct rate);

// true, yes, on, false, no, off.
bool bool_scan(const char *text, bool *);

// Six pairs of digits joined by ':' or '-'.
bool mac_scan(const char *text, struct rte_ether_addr *);
const char *mac_text(struct arena *, const uint8_t mac[RTE_ETHER_ADDR_LEN]); // at any address

// The whole address is kept: see ip4_mask() for bits beyond the prefix.
bool ip4_scan(const char *text, struct ip4_net *);
bool ip6_scan(const char *text, struct ip6_net *);
const char *ip4_text(struct arena *, const struct ip4_net *);
const char *ip6_text(struct arena *, const struct ip6_net *);

// Clears the bits beyond the prefix; true if there were any.
bool ip4_mask(struct ip4_net *);
bool ip6_mask(struct ip6_net *);

// Pairs of digits, with blanks, colons and dots between them. The bytes are in the arena.
bool hex_scan(struct arena *, const char *text, uint8_t **bytes, unsigned *n);
const char *hex_text(struct arena *, const uint8_t *bytes, unsigned n);

#endif
