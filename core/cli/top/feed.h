// SPDX-License-Identifier: BSD-3-Clause
// Where the samples come from: an instance that is asked again and again, and waited for when it
// has gone.

#ifndef SLUICE_CLI_TOP_FEED_H
#define SLUICE_CLI_TOP_FEED_H

#include "control/client.h"

struct feed {
	char name[INSTANCE_NAME_MAX + 1]; // of the instance
	struct client *client;		  // NULL: it is waited for
};

struct sample {
	json_t *stats; // GET /stats; NULL: there is no sample
	json_t *links; // GET /links
	json_t *node;  // GET /nodes/{node}, if one was asked for and is there; else NULL
};

// Finds the instance by name, or the only one. false with the reason in errors.
bool feed_open(struct feed *, const char *name, struct errors *);
void feed_close(struct feed *);

// Asks for a sample; `node` may be NULL. false: it does not answer within a second, or runs no
// more; the next call looks for it again.
bool feed_sample(struct feed *, const char *node, struct sample *);
void sample_free(struct sample *);

#endif
