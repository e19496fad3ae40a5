// SPDX-License-Identifier: BSD-3-Clause
// What doctor.c asks of the machine: each check appends findings to the list.

#ifndef SLUICE_CLI_DOCTOR_H
#define SLUICE_CLI_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

enum finding_state {
	FINDING_OK,
	FINDING_NOTE,	 // works, but slower, or not for every port
	FINDING_MISSING, // no graph can run
};

// Appends one finding. `fix` is what the user can do, with the command where there is one; NULL:
// nothing need be done.
void finding_add(json_t *findings, enum finding_state, const char *name, const char *fix,
		 const char *format, ...) __attribute__((format(printf, 5, 6)));

// The first line of a small file without its newline; false if it cannot be read.
bool file_line(const char *path, char *line, size_t size);

// doctor_machine.c: the processor, memory and limits.
void doctor_cores(json_t *findings);
void doctor_clock(json_t *findings);
void doctor_hugepages(json_t *findings);
void doctor_memory(json_t *findings);
void doctor_limits(json_t *findings);

// doctor_ports.c: what each kind of port needs.
void doctor_dpdk(json_t *findings);
void doctor_rights(json_t *findings);
void doctor_cards(json_t *findings);

#endif
