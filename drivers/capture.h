// SPDX-License-Identifier: BSD-3-Clause
// Capture files for the driver `pcap`: reading and writing through libpcap, with what it leaves to
// its caller (link types, damage in words, pipes that must not block a stop, full disks).

#ifndef SLUICE_DRIVERS_CAPTURE_H
#define SLUICE_DRIVERS_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>

#define CAPTURE_LENGTH_MAX 262144 // no reader takes longer packets

// What went wrong, in words that begin with the file's name.
struct capture_problem {
	bool machine; // permission, space, a file in use: not the text's fault
	char text[512];
};

struct capture_record {
	uint64_t time_ns; // since 1970
	uint32_t length;  // on the wire
	uint32_t captured;
	const uint8_t *bytes; // until the next call
};

enum capture_answer {
	CAPTURE_RECORD,
	CAPTURE_END,
	CAPTURE_BAD,	 // see capture_in_problem(); what came before is good
	CAPTURE_STOPPED, // stop_fd became readable while waiting for a pipe
};

struct capture_in;

// "-" is standard input. The header and link type of a file are checked here; a pipe's are checked
// by the first capture_in_next(), which may wait for them. NULL: see *problem. `path` outlives it.
struct capture_in *capture_in_open(const char *path, int stop_fd, struct capture_problem *);
void capture_in_close(struct capture_in *);
enum capture_answer capture_in_next(struct capture_in *, struct capture_record *);
const struct capture_problem *capture_in_problem(const struct capture_in *);

// A pipe, a terminal: it can be read once, and reading may wait.
bool capture_in_is_stream(const struct capture_in *);

// Records since the start or the last rewind.
uint64_t capture_in_records(const struct capture_in *);

// How many, over all passes, were captured in part only. Any thread.
uint64_t capture_in_shortened(const struct capture_in *);

// Call it before the first record if the file is going to be rewound: small ones stay in memory.
void capture_in_keep(struct capture_in *);
void capture_in_rewind(struct capture_in *);

// How much of the file was read, 0 to 1; negative: not known. Any thread.
double capture_in_progress(const struct capture_in *);

struct capture_out;

// "-" is standard output. Replaces an existing file. NULL: see *problem.
struct capture_out *capture_out_open(const char *path, int stop_fd, struct capture_problem *);
void capture_out_close(struct capture_out *);
bool capture_out_is_stream(const struct capture_out *);

// Whether it can be written now: a named pipe waits for its reader. After it said true once, it
// needs no more calls. A pipe that cannot be opened is a problem that the next write reports.
bool capture_out_ready(struct capture_out *);

// 0, or -1 with the reason in capture_out_problem(); then nothing more can be written, and all
// since the last flush is lost (a file ends behind the last packet that was flushed).
int capture_out_write(struct capture_out *, uint64_t time_ns, const uint8_t *bytes,
		      uint32_t length);
int capture_out_flush(struct capture_out *);
const struct capture_problem *capture_out_problem(const struct capture_out *);

void capture_problem_set(struct capture_problem *, bool machine, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
