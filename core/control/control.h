// SPDX-License-Identifier: BSD-3-Clause
// The control socket of a running graph: HTTP with JSON, served on the control thread between two
// calls of run_tend(). Workers know nothing of it.

#ifndef SLUICE_CONTROL_CONTROL_H
#define SLUICE_CONTROL_CONTROL_H

#include "run/run.h"

struct control;

struct control_options {
	const char *name;   // of the instance; NULL: the graph's setting, or the name of its file
	const char *group;  // whose members may connect too; NULL: the owner alone
	const char *listen; // "ADDRESS:PORT" of TCP; NULL: over the socket alone
	const char *token_file; // that TCP needs; NULL: a token is made, for the loopback alone
};

// Opens the socket. NULL with the reason in errors.
struct control *control_open(struct run *, const struct control_options *, struct errors *);
void control_close(struct control *); // NULL is allowed

// Serves what has come in. Called at every turn of the loop, which may sleep until control_poll()
// can be read, or control_wait_ns() has gone.
void control_tick(struct control *);
int control_poll(const struct control *);
uint64_t control_wait_ns(const struct control *); // UINT64_MAX: for ever
// Somebody asked for the run to stop.
bool control_stopping(const struct control *);

#endif
