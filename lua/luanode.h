// SPDX-License-Identifier: BSD-3-Clause
// Inside LuaNode: what one worker keeps of it, and the parts of the module in other files. Nothing
// here is shared between workers.

#ifndef SLUICE_LUA_LUANODE_H
#define SLUICE_LUA_LUANODE_H

#include "lua/state.h"
#include "module.h"

#define LUANODE_PACKETS                                                                            \
	(2 * BATCH_MAX) // that a call can have to do with: the batch's, and new ones
#define LUANODE_TEXT 400
#define LUANODE_PEEK 512 // bytes at the front of a packet in which fields are looked for

enum { LUANODE_SCRIPT = REASON_OWN, LUANODE_ERROR, LUANODE_LIMIT };

// A packet as the script sees it, for each place in a batch and each new one. They are made once.
struct luanode_packet {
	unsigned index; // from BATCH_MAX on: a new one
	uint64_t call;	// in which it was given to the script
};

// One worker's script.
struct luanode {
	lua_State *lua;
	// The call of process() that is under way; ctx NULL: none is.
	struct ctx *ctx;
	struct batch *in;
	uint64_t call;	  // number of the call
	bool decided;	  // gates[] is filled
	uint64_t dropped; // packets of the batch that the script dropped
	unsigned n_new;
	gate_t gates[LUANODE_PACKETS]; // or DROP()
	struct rte_mbuf *new[BATCH_MAX];

	bool opened; // the script's open() has returned
	unsigned n_filters;
	const void *packet_meta; // metatables, and the batch, to know by what an argument is
	const void *filter_meta;
	const void *batch;
	// The last error, from the script's own place.
	char place[128];
	char text[LUANODE_TEXT];
};

// What every function of the script's surface has as upvalues.
enum {
	LUANODE_UP_NODE = 1, // the struct luanode
	LUANODE_UP_PACKETS,  // all packets, by index + 1
	LUANODE_UP_FIELDS,   // rows of the table of fields, by name
	LUANODE_UP_ARRAYS,   // arrays that are used again, by row
	LUANODE_UP_FILTERS,  // those that were compiled, by text
	LUANODE_UPS = LUANODE_UP_FILTERS,
};

static inline struct luanode *luanode_of(lua_State *lua)
{
	return lua_touserdata(lua, lua_upvalueindex(LUANODE_UP_NODE));
}

static inline uint64_t luanode_all(const struct luanode *node)
{
	return node->in->n == 64 ? ~0ULL : (1ULL << node->in->n) - 1;
}

static inline struct rte_mbuf *luanode_mbuf(const struct luanode *node, unsigned index)
{
	return index < BATCH_MAX ? node->in->pkts[index] : node->new[index - BATCH_MAX];
}

// The userdata at `arg` if it has that metatable, or NULL.
static inline void *luanode_udata(lua_State *lua, int arg, const void *meta)
{
	void *data = lua_touserdata(lua, arg);

	if (!data || !lua_getmetatable(lua, arg))
		return NULL;
	if (lua_topointer(lua, -1) != meta)
		data = NULL;
	lua_pop(lua, 1);
	return data;
}

// Checked arguments: they raise an error in the script where something is not as it should be.
struct luanode *luanode_batch_arg(lua_State *); // argument 1 is the batch, and a call is under way
struct rte_mbuf *luanode_packet_arg(lua_State *);
uint64_t luanode_mask_arg(lua_State *, int arg); // none or nil: all packets of the batch
gate_t luanode_gate_arg(lua_State *, int arg);
reason_t luanode_reason_arg(lua_State *, int arg);

// With arguments gate, mask and mask, reason from 2 on, once argument 1 is known to be good.
int luanode_gate_masked(lua_State *);
int luanode_drop_masked(lua_State *);

// luanode_batch.c, luanode_packet.c, luanode_filter.c: functions as luaL_setfuncs() takes them.
extern const luaL_Reg luanode_batch_functions[];
extern const luaL_Reg luanode_packet_functions[];
extern const luaL_Reg luanode_packet_metamethods[];

// Pushes the packet of that index.
void luanode_packet_push(lua_State *, struct luanode *, unsigned index);
// The iterator behind batch:packets().
int luanode_packets_next(lua_State *);

// luanode_filter.c: the metatable of filters is made once a state.
void luanode_filter_open(lua_State *, struct luanode *);
int luanode_select(lua_State *);
int luanode_filter(lua_State *);

// luanode_fields.c
void luanode_fields_open(lua_State *); // pushes the table for LUANODE_UP_FIELDS
int luanode_get(lua_State *);
int luanode_where(lua_State *);
int luanode_size(lua_State *);
int luanode_packet_get(lua_State *);

// luanode_set.c
int luanode_set(lua_State *);
int luanode_packet_set(lua_State *);

// luanode_finish.c
int luanode_packet_finish(lua_State *);
int luanode_packet_payload(lua_State *);

// luanode_address.c: addresses in words and as numbers.
int luanode_ip4(lua_State *);
int luanode_ip4_text(lua_State *);
int luanode_mac(lua_State *);
int luanode_mac_text(lua_State *);
bool luanode_ip4_parse(const char *, uint64_t *);
bool luanode_mac_parse(const char *, uint64_t *);

// luanode_state.c: one worker's script from its text to its end. What fails says so in ->place and
// ->text.
struct luanode_script {
	const char *name; // of the node
	const char *path; // of the script, or NULL
	const char *code; // its text, when there is no path
	struct state_limits limits;
	const struct param_list *args;
	gate_t gates;
	uint16_t queue;
	uint16_t workers;
};

struct luanode_arg {
	const char *name;
	const char *value;
};

bool luanode_load(struct luanode *, const struct luanode_script *);
// false: the script's own close() failed.
bool luanode_close(struct luanode *);
// Calls what lies below n_args arguments.
bool luanode_call(struct luanode *, int n_args, int n_results);
// Calls process() with the batch.
bool luanode_process_call(struct luanode *);
// Pushes a table of texts.
void luanode_args_push(lua_State *, const struct param_list *);

// luanode_command.c
struct luanode_call_args {
	const char *name;
	struct param_list args;
};
int luanode_command(struct node *, const void *args, struct reply *, struct errors *);

#endif
