// SPDX-License-Identifier: BSD-3-Clause
// Captures built byte by byte, good and bad, and a folder of this run's own to keep them in.

#ifndef SLUICE_TESTS_CAPTURES_H
#define SLUICE_TESTS_CAPTURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAGIC_MICRO 0xa1b2c3d4u
#define MAGIC_NANO 0xa1b23c4du

struct capture {
	uint8_t *bytes;
	size_t n;
	bool big; // big-endian
};

void capture_put8(struct capture *, uint8_t value, size_t n); // n times
void capture_put16(struct capture *, uint16_t);
void capture_put32(struct capture *, uint32_t);
void capture_bytes(struct capture *, uint32_t n, uint8_t seed); // counts up from seed

void capture_head(struct capture *, uint32_t magic, uint16_t minor, uint32_t snap, uint32_t link);
// A record of `captured` bytes that says it is `claimed` bytes.
void capture_record(struct capture *, uint32_t s, uint32_t fraction, uint32_t claimed,
		    uint32_t length, uint32_t captured, uint8_t seed);
// The same for the plain case.
void capture_packet(struct capture *, uint32_t s, uint32_t fraction, uint32_t length, uint8_t seed);

void capture_ng_section(struct capture *);
void capture_ng_interface(struct capture *, uint16_t link, uint32_t snap);
void capture_ng_packet(struct capture *, uint32_t interface, uint64_t us, uint32_t length,
		       uint32_t captured, uint8_t seed);
void capture_ng_simple(struct capture *, uint32_t length, uint32_t captured, uint8_t seed);

// Writes it under a name into the folder and empties the struct; returns the path, which lives
// until the next but 15th call.
const char *capture_save(struct capture *, const char *name);
const char *capture_path(const char *name);

// Opens a port of `pcap` that reads it, with more parameters (", loop: 2") or none ("").
struct test_port;
bool capture_open_rx(struct test_port *, const char *path, const char *more, bool replay);

#endif
