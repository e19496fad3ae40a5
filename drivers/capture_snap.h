// SPDX-License-Identifier: BSD-3-Clause
// Takes the snap lengths out of a capture on its way to libpcap, which would cut records that are
// longer than their file's snap length, and refuse pcapng files whose interfaces have different
// ones.

#ifndef SLUICE_DRIVERS_CAPTURE_SNAP_H
#define SLUICE_DRIVERS_CAPTURE_SNAP_H

#include <stdbool.h>
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
	uint64_t packets;    // blocks that hold one, passed so far
	uint64_t *cut;	     // which of them were cut and do not say so, as far as not asked for
	unsigned n_cut, cut_at, cut_room;
	unsigned kind; // of the file, found from its first bytes
	unsigned big;  // the section is big-endian
};

// All zero at a file's start. Changes the next n bytes of the file in place.
void capture_snap_pass(struct capture_snap *, uint8_t *bytes, size_t n);

// Whether a record, numbered from 1 and asked for in order, was cut by its capturer without saying
// how long it had been.
bool capture_snap_was_cut(struct capture_snap *, uint64_t record);

void capture_snap_restart(struct capture_snap *); // at the start of the file again
void capture_snap_end(struct capture_snap *);

#endif
