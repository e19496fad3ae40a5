// SPDX-License-Identifier: BSD-3-Clause
// The builders of captures.h.

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "captures.h"
#include "ports.h"

static char folder[64];

static int folder_unlink(const char *path, const struct stat *about, int type, struct FTW *ftw)
{
	(void)about;
	(void)type;
	(void)ftw;
	return remove(path);
}

static void folder_remove(void)
{
	nftw(folder, folder_unlink, 8, FTW_DEPTH | FTW_PHYS);
}

const char *capture_path(const char *name)
{
	static char paths[16][128];
	static unsigned next;
	char *path = paths[next++ % 16];

	if (!*folder) {
		strcpy(folder, "/tmp/sluice-test-XXXXXX");
		if (!mkdtemp(folder))
			abort();
		atexit(folder_remove);
	}
	snprintf(path, sizeof(paths[0]), "%s/%s", folder, name);
	return path;
}

const char *capture_save(struct capture *capture, const char *name)
{
	const char *path = capture_path(name);
	FILE *file = fopen(path, "w");

	if (!file || fwrite(capture->bytes, 1, capture->n, file) != capture->n || fclose(file))
		abort();
	free(capture->bytes);
	capture->bytes = NULL;
	capture->n = 0;
	return path;
}

static uint8_t *capture_room(struct capture *capture, size_t n)
{
	capture->bytes = realloc(capture->bytes, capture->n + n + 1);
	if (!capture->bytes)
		abort();
	capture->n += n;
	return capture->bytes + capture->n - n;
}

void capture_put8(struct capture *capture, uint8_t value, size_t n)
{
	memset(capture_room(capture, n), value, n);
}

static void capture_put(struct capture *capture, uint32_t value, unsigned n)
{
	uint8_t *to = capture_room(capture, n);

	for (unsigned i = 0; i < n; i++)
		to[capture->big ? n - 1 - i : i] = value >> 8 * i;
}

void capture_put16(struct capture *capture, uint16_t value)
{
	capture_put(capture, value, 2);
}

void capture_put32(struct capture *capture, uint32_t value)
{
	capture_put(capture, value, 4);
}

void capture_bytes(struct capture *capture, uint32_t n, uint8_t seed)
{
	uint8_t *to = capture_room(capture, n);

	for (uint32_t i = 0; i < n; i++)
		to[i] = seed + i;
}

void capture_head(struct capture *capture, uint32_t magic, uint16_t minor, uint32_t snap,
		  uint32_t link)
{
	capture_put32(capture, magic);
	capture_put16(capture, 2);
	capture_put16(capture, minor);
	capture_put32(capture, 0);
	capture_put32(capture, 0);
	capture_put32(capture, snap);
	capture_put32(capture, link);
}

void capture_record(struct capture *capture, uint32_t s, uint32_t fraction, uint32_t claimed,
		    uint32_t length, uint32_t captured, uint8_t seed)
{
	capture_put32(capture, s);
	capture_put32(capture, fraction);
	capture_put32(capture, claimed);
	capture_put32(capture, length);
	capture_bytes(capture, captured, seed);
}

void capture_packet(struct capture *capture, uint32_t s, uint32_t fraction, uint32_t length,
		    uint8_t seed)
{
	capture_record(capture, s, fraction, length, length, length, seed);
}

void capture_ng_section(struct capture *capture)
{
	capture_put32(capture, 0x0a0d0d0a);
	capture_put32(capture, 28);
	capture_put32(capture, 0x1a2b3c4d);
	capture_put16(capture, 1);
	capture_put16(capture, 0);
	capture_put8(capture, 0xff, 8); // length of the section: not said
	capture_put32(capture, 28);
}

void capture_ng_interface(struct capture *capture, uint16_t link, uint32_t snap)
{
	capture_put32(capture, 1);
	capture_put32(capture, 20);
	capture_put16(capture, link);
	capture_put16(capture, 0);
	capture_put32(capture, snap);
	capture_put32(capture, 20);
}

void capture_ng_packet(struct capture *capture, uint32_t interface, uint64_t us, uint32_t length,
		       uint32_t captured, uint8_t seed)
{
	uint32_t pad = -captured & 3, total = 32 + captured + pad;

	capture_put32(capture, 6);
	capture_put32(capture, total);
	capture_put32(capture, interface);
	capture_put32(capture, us >> 32);
	capture_put32(capture, us);
	capture_put32(capture, captured);
	capture_put32(capture, length);
	capture_bytes(capture, captured, seed);
	capture_put8(capture, 0, pad);
	capture_put32(capture, total);
}

void capture_ng_simple(struct capture *capture, uint32_t length, uint32_t captured, uint8_t seed)
{
	uint32_t pad = -captured & 3, total = 16 + captured + pad;

	capture_put32(capture, 3);
	capture_put32(capture, total);
	capture_put32(capture, length);
	capture_bytes(capture, captured, seed);
	capture_put8(capture, 0, pad);
	capture_put32(capture, total);
}

bool capture_open_rx(struct test_port *test, const char *path, const char *more, bool replay)
{
	char params[256];

	snprintf(params, sizeof(params), "{rx: \"%s\"%s}", path, more);
	return test_port_open(test, "pcap", params, 1, 0, replay);
}
