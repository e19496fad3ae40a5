// SPDX-License-Identifier: BSD-3-Clause
// The other end of a control socket, for the command line: one request, one answer, through
// libcurl.

#ifndef SLUICE_CONTROL_CLIENT_H
#define SLUICE_CONTROL_CLIENT_H

#include <jansson.h>

#include "control/instance.h"

struct client;

struct client_reply {
	long status;  // of HTTP
	char *text;   // the body, never NULL
	json_t *json; // the same, if it is JSON; else NULL
};

// Connects to an instance by name; NULL: the only one that runs. NULL after an error: none runs,
// several do, or it does not answer.
struct client *client_open(const char *name, struct errors *);
// Connects to this one.
struct client *client_to(const struct instance *, struct errors *);
// Says that none runs, and how to start one.
void client_none_runs(struct errors *);
void client_close(struct client *);

struct client_request {
	const char *method;
	const char *path; // and query
	const char *body; // NULL: none
	size_t n_body;
	// The user has not written the body, so that its lines say nothing: faults are said to be
	// in this. NULL: at the places that are answered.
	const char *fault_file;
	long timeout_ms; // for the whole answer; 0: it is waited for
};

// Sends a request. false with the reason in errors: nobody answered, or what was answered are
// errors, which are then those.
bool client_ask(struct client *, const struct client_request *, struct client_reply *,
		struct errors *);
void client_reply_free(struct client_reply *);

// An answer that comes bit by bit.
struct client_stream {
	struct client_request request;
	// What has come. false: no more is wanted, and the connection is closed.
	bool (*take)(void *to, const void *bytes, size_t n);
	void *to;
	// When it can be read, stop() is called once, and what then comes is still taken. -1:
	// never.
	int stop_fd;
	void (*stop)(void *to);
	char location[64]; // what the answer says that it is of, from the first byte on
	long status;	   // of HTTP
};

// Asks, and gives what comes to take() until it ends. false as client_ask().
bool client_stream(struct client *, struct client_stream *, struct errors *);

// A text as part of a path or query; the caller frees it.
char *client_escape(struct client *, const char *);

const struct instance *client_instance(const struct client *);

#endif
