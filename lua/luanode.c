// SPDX-License-Identifier: BSD-3-Clause
// LuaNode: a node whose process() is Lua. Each worker has a state of its own, within limits; a call
// that fails drops its batch.

#include <string.h>

#include "lua/luanode.h"

enum { ON_ERROR_DROP, ON_ERROR_STOP };
enum { COUNT_ERRORS };

struct luanode_params {
	const char *script;
	const char *code;
	struct param_list args;
	struct bytes memory;
	uint64_t instructions;
	struct choice on_error;
};

static const char *const on_errors[] = {"drop", "stop", NULL};

static const struct param arg_rows[] = {
    PARAM(luanode_arg, name, .min = 1, .example = "zone", .help = "how the script finds it"),
    PARAM(luanode_arg, value, .example = "example.org", .help = "what it finds, a text"),
    PARAM_END,
};

static const struct param param_rows[] = {
    PARAM(luanode_params, script, .def = "",
	  .help = "the path of the script; this or `code` must be given"),
    PARAM(luanode_params, code, .def = "", .example = "function process(batch) end",
	  .help = "the script itself, for a few lines"),
    PARAM(luanode_params, args, .def = "", .fields = arg_rows,
	  .example = "[{name: zone, value: example.org}]",
	  .help = "what the script has as table `args`"),
    PARAM(luanode_params, memory, .def = "64MiB", .min = 1 << 20,
	  .help = "how much memory the script may have, for each worker"),
    PARAM(luanode_params, instructions, .def = "10000000",
	  .help =
	      "of Lua's machine in one call, after which it is cut off; 0: as many as it takes"),
    PARAM(luanode_params, on_error, .def = "drop", .choices = on_errors,
	  .help = "whether an error in process() drops the batch, or ends the run too"),
    PARAM_END,
};

// The new packets follow those of the batch.
static void new_emit(struct ctx *ctx, struct luanode *node)
{
	struct batch *batch = batch_new(ctx);

	if (unlikely(!batch)) {
		for (unsigned i = 0; i < node->n_new; i++)
			packet_drop(ctx, node->new[i], REASON_NO_MEMORY);
		return;
	}
	batch->n = node->n_new;
	memcpy(batch->pkts, node->new, node->n_new * sizeof(*node->new));
	emit_each(ctx, batch, &node->gates[BATCH_MAX]);
}

static __rte_noinline void call_failed(struct ctx *ctx, struct luanode *node, struct batch *in)
{
	const struct luanode_params *params = ctx->params;
	reason_t reason = state_exhausted(node->lua) ? LUANODE_LIMIT : LUANODE_ERROR;

	counter_add(&ctx->counters[COUNT_ERRORS], 1);
	node_fault(ctx, params->on_error.n == ON_ERROR_STOP,
		   node->place[0]    ? node->place
		   : *params->script ? params->script
				     : NULL,
		   node->text);
	for (unsigned i = 0; i < node->n_new; i++)
		packet_drop(ctx, node->new[i], reason);
	drop(ctx, in, reason);
}

static void luanode_process(struct ctx *ctx, struct batch *in)
{
	struct luanode *node = ctx->local;
	bool done;

	node->ctx = ctx;
	node->in = in;
	node->call++;
	node->decided = false;
	node->dropped = 0;
	node->n_new = 0;
	done = luanode_process_call(node);
	node->ctx = NULL;
	if (unlikely(!done)) {
		call_failed(ctx, node, in);
		return;
	}
	if (node->decided)
		emit_each(ctx, in, node->gates);
	else if (likely(ctx->ogates))
		emit(ctx, in, 0);
	else
		drop(ctx, in, REASON_UNCONNECTED);
	if (unlikely(node->n_new))
		new_emit(ctx, node);
}

static const struct param call_rows[] = {
    PARAM(luanode_call_args, name, .min = 1, .example = "count",
	  .help = "which of the script's `commands`"),
    PARAM(luanode_call_args, args, .def = "", .fields = arg_rows,
	  .example = "[{name: port, value: 53}]", .help = "what it is given, as a table of texts"),
    PARAM_END,
};

static const struct command commands[] = {
    {
	.name = "call",
	.help = "runs a command that the script defines, for each worker in turn",
	.args = call_rows,
	.run = luanode_command,
    },
    {NULL},
};

static void luanode_check(const void *given, struct errors *errors)
{
	const struct luanode_params *params = given;

	if (!*params->script && !*params->code)
		error_input(errors, "script",
			    "is not given, and `code` is not either; one of them "
			    "should be");
	else if (*params->script && *params->code)
		error_input(errors, "code", "is given, and `script` too; it should be one of them");
}

static void script_refuse(const struct luanode *node, const struct luanode_params *params,
			  struct errors *errors)
{
	const char *param = *params->script ? "script" : "code";

	if (!node->lua)
		error_machine(errors, NULL, "%s", node->text);
	else if (node->place[0])
		error_input(errors, param, "%s: %s", node->place, node->text);
	else
		error_input(errors, param, "%s", node->text);
}

static int luanode_open(struct node *node, struct errors *errors)
{
	const struct luanode_params *params = node->params;
	struct luanode_script script = {
	    .name = node->name,
	    .path = *params->script ? params->script : NULL,
	    .code = params->code,
	    .limits = {.memory_bytes = params->memory.bytes, .instructions = params->instructions},
	    .args = &params->args,
	    .gates = node->ogates,
	    .workers = node->workers,
	};

	for (; script.queue < node->workers; script.queue++) {
		struct luanode *local = node_local(node, script.queue);

		if (!luanode_load(local, &script)) {
			script_refuse(local, params, errors);
			return -1;
		}
	}
	return 0;
}

static void luanode_node_close(struct node *node)
{
	for (unsigned i = 0; i < node->workers; i++) {
		struct luanode *local = node_local(node, i);

		if (!luanode_close(local))
			node_note(node, "%s: %s", local->place, local->text);
	}
}

static const char *luanode_loses(const void *params, const void *old_params)
{
	(void)params;
	(void)old_params;
	return "what its script keeps between batches";
}

static struct module_type luanode = {
    .name = "LuaNode",
    .help = "hands batches to a script in Lua, for prototypes and decisions",
    .details =
	"The script has a function `process(batch)`; see docs/lua-node.md for all that it can ask "
	"and do. What it says nothing of leaves by gate 0. Each worker runs the script in a state "
	"of its own, which it keeps between batches. An error in `process` drops the batch as "
	"`script_error` and is shown once, with the line of the script; a call that takes more "
	"instructions or memory than the node may have is cut off, and drops it as `script_limit`. "
	"A script that cannot be read, or has no `process`, is refused when the graph is loaded. "
	"What runs in C (`batch:select`, `batch:set`, `batch:gate`) costs about what a module "
	"does; a loop over packets costs some hundred nanoseconds for each.",
    .example = "nodes:\n"
	       "  mark:\n"
	       "    LuaNode:\n"
	       "      code: |\n"
	       "        local voice = filter(\"udp portrange 16384-32767\")\n"
	       "        function process(batch)\n"
	       "          batch:set(\"ip.dscp\", 46, batch:select(voice))\n"
	       "        end\n"
	       "graph:\n"
	       "  - rx -> mark -> tx\n",
    .igates = GATES_ANY,
    .ogates = GATES_ANY,
    .params = param_rows,
    .commands = commands,
    .counters = (const struct counter[]){{"errors", "calls of the script that failed"}, {NULL}},
    .drops = (const char *const[]){"script", "script_error", "script_limit", NULL},
    .drops_help =
	(const char *const[]){
	    "the script dropped it",
	    "the call of the script that it was given to failed",
	    "the call of the script that it was given to took too much",
	},
    .local_size = sizeof(struct luanode),
    .shared = true,
    .check = luanode_check,
    .open = luanode_open,
    .close = luanode_node_close,
    .process = luanode_process,
    .loses = luanode_loses,
};
MODULE(luanode)
