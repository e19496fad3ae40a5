// SPDX-License-Identifier: BSD-3-Clause
// Inside core/control: captures of packets that pass links of the graph. Workers copy what is
// wanted into rings, one a worker; a thread of the capture's turns that into pcapng, which the
// server sends.

#ifndef SLUICE_CONTROL_CAPTURE_H
#define SLUICE_CONTROL_CAPTURE_H

#include <pthread.h>
#include <sched.h>

#include "control/pcapng.h"
#include "control/ring.h"
#include "control/route.h"
#include "filter.h"
#include "run/clock.h"
#include "run/tap.h"

#define CAPTURES_MAX 16
#define CAPTURE_LINKS_MAX 512	      // of one capture, those that were there once included
#define CAPTURE_LANE_BYTES (8u << 20) // more than a batch of the longest packets
#define CAPTURE_OUT_BYTES (1u << 20)
#define CAPTURE_SNAPLEN 262144

enum { CAPTURE_OUT, CAPTURE_IN, CAPTURE_BOTH };

// What is asked for.
struct capture_wish {
	const char *name; // of a node or port
	bool port;
	const char *gate;	 // number or name; "": all
	struct choice direction; // out of the node, into it, both; of a port: what it sends, ...
	const char *filter;	 // "": all packets
	uint32_t snaplen;
	uint32_t sample; // one packet in so many
	uint64_t count;	 // of packets, and then it ends; 0: it does not
};

extern const struct param capture_params[]; // of all but the name

// A record in a lane; the captured bytes follow, filled up to a multiple of 8.
struct capture_record {
	uint64_t time_ns; // of the graph's clock
	uint32_t length;
	uint32_t captured;
	uint32_t link;
	uint32_t size; // with all that follows
};

// What passed a link, counted by a worker.
struct capture_tally {
	uint64_t seen;
	uint64_t accepted; // of them by the filter
	uint64_t dropped;  // that were to be taken, and had no room
};

// What a worker writes and the capture's thread reads.
struct capture_lane {
	struct ring ring;
	struct capture_lane *next;
	uint64_t at;  // the thread's: how far it has read
	uint64_t end; // the thread's: what it reads up to
	uint32_t in;  // the worker's: packets until one is taken again
	bool full;    // the worker's: until there is room for some time
	struct capture_tally tallies[CAPTURE_LINKS_MAX];
};

// A link in a direction: an interface of the capture. Written once, before n_links says so.
struct capture_link {
	const char *name;	 // "rx[0]"
	const char *description; // "rx[0] -> [1]fwd"
	enum pcapng_direction direction;
	uint64_t written; // atomic: by the thread
};

enum capture_order { CAPTURE_GO_ON, CAPTURE_FINISH, CAPTURE_GIVE_UP };

struct capture {
	struct tap tap;
	struct run *run;
	struct control *control;
	struct capture *next;
	unsigned id;
	struct arena *arena; // of the texts, those of links too
	struct capture_wish wish;
	bool filters;
	struct filter filter;
	const char *graph_file;
	uint64_t begun_ns; // since 1970
	const struct clock *clock;

	struct capture_lane *by_core[CPU_SETSIZE]; // what workers look at
	struct capture_lane *lanes;		   // atomic: all of them
	struct capture_link links[CAPTURE_LINKS_MAX];
	unsigned n_links;   // atomic
	const char *broken; // why not all is captured, noticed while links are chosen

	bool tapped;
	bool closed;	    // nobody reads any more; waits to be untapped
	uint64_t untap_ns;  // when that is tried again
	int order;	    // atomic
	const char *reason; // why it was told to finish; NULL: none need be said
	int event;	    // wakes the thread
	bool started;
	pthread_t thread;

	struct ring out; // pcapng
	struct waker *waker;
	int hungry; // atomic: the thread waits for room in `out`
	int ended;  // atomic: all there will be is in `out`
};

// capture_links.c
// Says why nothing can be captured there. false after an error.
bool capture_possible(const struct graph *, const struct capture_wish *, struct errors *);
// Whether the node or port is there.
bool capture_target_there(const struct graph *, const struct capture_wish *);
unsigned capture_wants(const struct tap *, const struct graph *, const struct graph_link *);

// capture_lane.c: on workers.
void capture_leaves(struct tap *, struct ctx *, gate_t, unsigned number, struct batch *);

// capture_thread.c
void *capture_thread(void *arg); // a struct capture
void capture_wake(struct capture *);
uint64_t capture_wall_ns(void);
struct capture_tally capture_tally(const struct capture *, unsigned link);

// capture.c
// Begins one, which the control has from then on. NULL with the reason in errors.
struct capture *capture_begin(struct control *, const struct capture_wish *, struct errors *);
// Lets it end with all that has passed so far, and with a reason, which is a literal or NULL.
void capture_finish(struct capture *, const char *reason);
// Nobody reads it any more.
void capture_close(struct capture *);
// What answer_stream's read() does.
ssize_t capture_read(struct capture *, char *to, size_t n);
// Ends captures of what is gone, and takes away taps of those that have ended.
void captures_tick(struct control *);

// capture_routes.c
void serve_node_capture(const struct request *, struct answer *);
void serve_port_capture(const struct request *, struct answer *);
void serve_captures(const struct request *, struct answer *);
void serve_capture_end(const struct request *, struct answer *);

#endif
