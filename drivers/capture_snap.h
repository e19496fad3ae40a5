// SPDX-License-Identifier: BSD-3-Clause
// Takes the snap lengths out of a capture on its way to libpcap, which would cut records that are
// longer than their file's snap length, and refuse pcapng files whose interfaces have different
// ones.

#ifndef SLUICE_DRIVERS_CAPTURE_SNAP_H
#define SLUICE_DRIVERS_CAPTURE_SNAP_H

#include <stddef.h>
#include <stdint.h>

struct capture_snap {
	uint64_t at;	 // bytes passed
	uint64_t block;	 // where the present block of a pcapng began
	uint64_t length; // of that block; 0: not known yet
	uint8_t head[12];
	uint8_t magic[4];
	uint8_t field[4];
	unsigned interfaces; // of this section
	uint32_t simple;     // snap length of the first one
	uint64_t cut;	     // simple packets that it made shorter; any thread may read it
	unsigned kind;	     // of the file, found from its first bytes
	unsigned big;	     // the section is big-endian
};

// All zero at a file's start. Changes the next n bytes of the file in place.
void capture_snap_pass(struct capture_snap *, uint8_t *bytes, size_t n);

#endif
