// SPDX-License-Identifier: BSD-3-Clause
// Inside core/cli: what becomes of a stream of pcapng blocks: they are counted, and written as they
// are or as a line for each packet.

#ifndef SLUICE_CLI_CAPTURE_OUTPUT_H
#define SLUICE_CLI_CAPTURE_OUTPUT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct capture_output;

// To a descriptor as pcapng, or to standard output as text (fd -1). `file` names it in messages.
struct capture_output *capture_output_new(int fd, const char *file);
void capture_output_free(struct capture_output *);

// Takes the next bytes of the stream; whole blocks go on at once. false: nobody takes them.
bool capture_output_take(struct capture_output *, const void *bytes, size_t n);

// Why false was returned, said on standard error where that is a fault; the exit code.
int capture_output_fault(const struct capture_output *);

// How it went: a line, or JSON.
void capture_output_sum(const struct capture_output *, FILE *, bool json);

#endif
