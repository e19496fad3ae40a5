// SPDX-License-Identifier: BSD-3-Clause
// What a module author needs: batches, the verbs that move them, and the table that describes a
// module. Modules include this (and packet.h) and nothing else of the core.

#ifndef SLUICE_MODULE_H
#define SLUICE_MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_branch_prediction.h>
#include <rte_mbuf.h>
#include <rte_mbuf_dyn.h>

#include "abi.h"
#include "param.h"

#define BATCH_MAX 64 // packets in a batch; a uint64_t mask covers one
#define GATES_MAX 64 // gates of one side of a node

typedef uint16_t reason_t;

struct batch {
	struct batch *next; // the core's
	uint32_t n;
	struct rte_mbuf *pkts[BATCH_MAX];
};

#define batch_foreach(batch, pkt)                                                                  \
	for (struct rte_mbuf **at_ = (batch)->pkts, **end_ = at_ + (batch)->n, *pkt;               \
	     at_ < end_ && ((pkt) = *at_, true); at_++)

// Why a packet was dropped. A module's own reasons follow: enum { FULL = REASON_OWN, ... }, in the
// order of its .drops.
enum {
	REASON_UNCONNECTED, // the gate leads nowhere
	REASON_NO_MEMORY,   // no packet buffer or batch was free
	REASON_RUNT,	    // too short to be what the module needs
	REASON_REFUSED,	    // the device did not take it
	REASON_FULL,	    // a queue was full
	REASON_LOOP_FULL,   // too much goes round in a loop of the graph
	REASON_OWN,
};

// For emit_each: instead of a gate, a drop with its reason.
#define DROP(reason) ((gate_t)(0x8000 | (reason)))

struct input;
struct worker;
struct ogate;
struct node;

// One node as one worker sees it. A module reads the first part; the rest is the core's.
struct ctx {
	const void *params; // what the user wrote, filled after .params
	void *state;	    // .state_size bytes, one for all workers
	void *local;	    // .local_size bytes, this worker's own
	uint64_t now_ns;    // the time of this poll; exact to one poll if the type says .clock
	gate_t igate;	    // where the batch came in
	gate_t igates;	    // how many gates the node has
	gate_t ogates;
	uint16_t queue;	      // the number of this worker among those that run the node, from 0
	const uint16_t *meta; // offsets of .reads, then of .writes, for meta_u32() and its like
	uint64_t *counters;   // of .counters, by place there; counter_add() to them
	const struct node *node;

	// The core's own from here on.
	int64_t balance; // packets in + made + released - those that left, during one call
	struct input *next;
	struct batch *next_batch;
	struct ogate *gates;
	struct worker *worker;
	uint64_t *dropped; // by reason
	uint64_t made;
	uint64_t consumed;
	uint64_t held;
	uint64_t released;
	uint64_t polled_batches;
	uint64_t cycles;	 // of the watched calls
	uint64_t cycles_sampled; // packets in them
	uint64_t cycles_calls;	 // watched calls
} __attribute__((aligned(64)));

// An output gate of a ctx: the core's. What leaves by the only link into an input is counted there.
struct ogate {
	struct input *direct; // runs next without the bitmap; NULL: see `input`
	struct input *input;  // NULL: unconnected
	uint64_t packets;
	uint64_t batches;
};

// Whether an output gate leads anywhere: for modules whose gates are all alike.
static inline bool gate_linked(const struct ctx *ctx, gate_t gate)
{
	return ctx->gates[gate].input;
}

// Counters have one writer, their worker; anyone may read them at any time.
static inline void counter_add(uint64_t *counter, uint64_t n)
{
	__atomic_store_n(counter, *counter + n, __ATOMIC_RELAXED);
}

static inline uint64_t counter_read(const uint64_t *counter)
{
	return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

// The verbs. A batch handed to process() is the module's: before process() returns, each packet
// has left by one verb or is held. After emit, emit_each, drop, consume and batch_free the batch is
// gone.

void emit_slow(struct ctx *, struct batch *, gate_t); // the core's

// The whole batch leaves by one gate; nothing is copied. An empty batch is only given back.
static inline void emit(struct ctx *ctx, struct batch *batch, gate_t gate)
{
	struct input *direct = ctx->gates[gate].direct;
	uint32_t n = batch->n;

	if (unlikely(!direct || ctx->next || !n)) {
		emit_slow(ctx, batch, gate);
		return;
	}
	ctx->balance -= n;
	ctx->next = direct;
	ctx->next_batch = batch;
}

// Packet i leaves by gates[i], or is dropped for the reason in DROP(reason). The array is the
// module's.
void emit_each(struct ctx *, struct batch *, const gate_t gates[]);

// All packets are freed and counted under the reason.
void drop(struct ctx *, struct batch *, reason_t);

// All packets are freed and counted as consumed: their way ends here as meant.
void consume(struct ctx *, struct batch *);

// The first n packets now belong to a device or a structure outside the graph; the rest close up.
void taken(struct ctx *, struct batch *, unsigned n);

// An empty batch, or NULL when none is free.
struct batch *batch_new(struct ctx *);

// Gives back a batch that has no packets left (all taken or held).
void batch_free(struct ctx *, struct batch *);

// New packets, all n or none (false). Each has refcount 1 and one segment with `length` bytes of
// any content. Counted as made.
bool packets_new(struct ctx *, struct rte_mbuf **pkts, unsigned n, uint16_t length);

// A deep copy with refcount 1, metadata included, or NULL. Counted as made.
struct rte_mbuf *packet_copy(struct ctx *, const struct rte_mbuf *);

// One packet that is in no batch is freed and counted under the reason.
void packet_drop(struct ctx *, struct rte_mbuf *, reason_t);

// n packets came into the graph by other means than the above (a device's receive).
static inline void made(struct ctx *ctx, unsigned n)
{
	counter_add(&ctx->made, n);
	ctx->balance += n;
}

// n packets stay in the module's state when the call returns.
static inline void hold(struct ctx *ctx, unsigned n)
{
	counter_add(&ctx->held, n);
	ctx->balance -= n;
}

// n of the held packets leave the state again, to be emitted, dropped or consumed in this call.
static inline void release(struct ctx *ctx, unsigned n)
{
	counter_add(&ctx->released, n);
	ctx->balance += n;
}

// From within process() or poll(): what the user wrote for the node went wrong at run time. The
// first fault of a node is shown by the control thread, with `place` ("FILE:LINE", or NULL) before
// and the node's name; those that follow are not. stop: the run ends, with code 1.
void node_fault(struct ctx *, bool stop, const char *place, const char *text);

// Metadata: slot i counts through .reads, then .writes.
enum meta_type { META_U8, META_U16, META_U32, META_U64 };

struct meta {
	const char *name;
	enum meta_type type;
};

#define META(ctx, pkt, slot, type) RTE_MBUF_DYNFIELD((pkt), (ctx)->meta[slot], type *)

static inline uint32_t *meta_u32(const struct ctx *ctx, struct rte_mbuf *pkt, unsigned slot)
{
	return META(ctx, pkt, slot, uint32_t);
}

static inline uint64_t *meta_u64(const struct ctx *ctx, struct rte_mbuf *pkt, unsigned slot)
{
	return META(ctx, pkt, slot, uint64_t);
}

// A node of the running graph, as its module sees it outside the packet path.
struct node {
	const char *name;
	const struct module_type *type;
	const void *params; // may move when the graph changes: keep no pointers into it
	void *state;
	gate_t igates; // highest linked gate + 1, or what the type says
	gate_t ogates;
	uint16_t workers;	  // how many run it; each has a local
	struct rte_mempool *pool; // of the graph's packets
	uint16_t burst;		  // the graph's setting
	uint64_t now_ns; // the clock when open(), close(), a command, take() or fold() began
	bool finite;	 // every source that feeds it ends by itself
	int congested;	 // set with node_congest()
};

// The own memory of the node's worker number i, from 0.
void *node_local(const struct node *, unsigned i);

// While a node is congested, the sources that feed it are not polled. Any thread may set it.
static inline void node_congest(const struct node *node, bool congested)
{
	__atomic_store_n((int *)&node->congested, congested, __ATOMIC_RELAXED);
}

static inline bool node_congested(const struct node *node)
{
	return __atomic_load_n(&node->congested, __ATOMIC_RELAXED);
}

// Something worth a line in the log. On the control thread.
void node_note(const struct node *, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Frees packets that a node still holds, in close() or in a command, and counts them under the
// reason.
void node_drop(struct node *, struct rte_mbuf **pkts, unsigned n, reason_t);

// Commands answer with a reply: a map of what is put into it, or a list of maps.
struct reply;
void reply_item(struct reply *); // begins the next map of a list
void reply_u64(struct reply *, const char *key, uint64_t);
void reply_text(struct reply *, const char *key, const char *);
void reply_bool(struct reply *, const char *key, bool);
void reply_mac(struct reply *, const char *key, const struct rte_ether_addr *);

// A save() fills in a copy of a node's parameters; what they point to lies in this memory, which is
// zeroed and not the module's to free.
struct save;
void *save_memory(struct save *, size_t n, size_t size);
// Whether what packets have taught the node is asked for too, not only what commands have changed.
bool save_learned(const struct save *);

struct command {
	const char *name;
	const char *help;
	const struct param *args; // filled as parameters are; NULL: none
	// Constant work, done while the workers are parked between two polls (.live unset), or
	// reading and walking tables beside them (.live). Returns 0, or -1 with the reason in
	// errors.
	int (*run)(struct node *, const void *args, struct reply *, struct errors *);
	bool live;
};

struct counter {
	const char *name; // snake_case
	const char *help;
};

enum { POLL_ENDED = -1 }; // no packet will ever come from this source again

#define GATES_ANY 0xffff // as many as are linked, at most GATES_MAX

struct module_type {
	const char *name;    // CamelCase
	const char *help;    // one line, third person
	const char *details; // more for the reference, or NULL
	const char *example; // lines of a graph file for the reference
	gate_t igates;
	gate_t ogates;
	const char *const *igate_names; // NULL, or one for each gate
	const char *const *ogate_names;

	const struct param *params;
	const struct command *commands; // ends with a nameless row
	const struct counter *counters; // ends with a nameless row
	const char *const *drops;	// ends with NULL; the first is REASON_OWN
	const char *const *drops_help;	// one line for each of .drops
	const struct meta *reads;	// end with a nameless row
	const struct meta *writes;

	size_t state_size;
	size_t local_size;
	uint64_t tick_ns;

	bool shared; // several workers may run a node of it
	bool clock;  // now_ns must be exact to one poll
	bool blind;  // reads nothing of a packet's bytes: nothing need be prefetched for it

	// What a row of .params cannot say. Pure: no EAL, nothing allocated.
	void (*check)(const void *params, struct errors *);
	// Packets that a node may hold beside those on their way, for the size of the pool.
	unsigned (*holds)(const void *params);
	// Bytes that open() takes from DPDK.
	uint64_t (*memory)(const void *params);
	// 0, or -1 with the reason in errors; close() is called after a failed open() too, with the
	// state as open() left it (all zero at first).
	int (*open)(struct node *, struct errors *);
	void (*close)(struct node *);

	void (*process)(struct ctx *, struct batch *);
	// What process() would do, with nothing changed but the packets: for a user who asks what
	// would become of one. It may read the state, and change ctx->local, which is a copy of a
	// worker's, byte for byte. Where process() is like that it stands here too; a type without
	// state, local and port needs nothing. NULL otherwise: then the type cannot be asked.
	void (*explain)(struct ctx *, struct batch *);
	// Of sources: how many packets it let into the graph (0: nothing to do now), or POLL_ENDED.
	int (*poll)(struct ctx *);
	// Whether this node need be polled; NULL: yes, if there is a poll().
	bool (*polls)(const void *params);

	// Of sources: whether it ends by itself. Ports are open by then. NULL: it does not.
	bool (*finite)(const struct node *);

	// Every tick_ns on the control thread, beside the workers.
	void (*tick)(struct node *, uint64_t now_ns);
	// The same as tick, with the workers parked: constant work only. Called after tick() when
	// it returned.
	void (*tick_parked)(struct node *, uint64_t now_ns);
	// A graph change replaces `old` by this node (same name and module, other parameters or
	// gates): move what can be moved; workers are parked. Returns what is lost, in words, or
	// NULL.
	const char *(*take)(struct node *, struct node *old);
	// Whether take() would lose something, asked before; NULL: it moves all of the state.
	const char *(*loses)(const void *params, const void *old_params);
	// Gather what workers kept in their locals before it is read.
	void (*fold)(struct node *);
	// Where commands change what the node does: `params`, a copy of its parameters, becomes
	// those that would make the node as it is now. On the control thread, beside the workers;
	// what nothing has changed stays as it is, order included.
	void (*save)(const struct node *, void *params, struct save *);
};

struct module_entry {
	struct abi abi;
	const struct module_type *type;
	struct module_entry *next;
};

void module_register(struct module_entry *); // only appends to a list

#define MODULE(VAR)                                                                                \
	static struct module_entry VAR##_entry = {                                                 \
	    .abi = ABI_HERE(sizeof(struct module_type), sizeof(struct ctx), BATCH_MAX),            \
	    .type = &(VAR),                                                                        \
	};                                                                                         \
	__attribute__((constructor)) static void VAR##_register(void)                              \
	{                                                                                          \
		module_register(&VAR##_entry);                                                     \
	}

#endif
