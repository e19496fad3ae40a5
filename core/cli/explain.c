// SPDX-License-Identifier: BSD-3-Clause
// sluice explain: the way that a packet would go through a graph that runs.

#include <stdlib.h>
#include <string.h>

#include "cli/live.h"
#include "cli/ways_text.h"

struct explain_args {
	struct cli_live live;
	const char *node;
	const char *packet;
	const char *gate;
};

static const struct argp_option options[] = {
    {"gate", 'g', "GATE", 0, "the input gate that it comes in by; 0 if not given", 0},
    {0},
};

static error_t take(void *into, int key, char *arg, struct argp_state *state)
{
	struct explain_args *args = into;

	switch (key) {
	case 'g':
		args->gate = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (args->packet)
			argp_error(state,
				   "\"%s\" is one argument too many; a packet is one, in "
				   "quotes",
				   arg);
		*(args->node ? &args->packet : &args->node) = arg;
		return 0;
	case ARGP_KEY_END:
		if (!args->packet)
			argp_error(state, "a node and a packet should be given");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct cli_syntax syntax = {
    .shared = &cli_live_argp,
    .options = options,
    .take = take,
    .args_doc = "NODE PACKET",
    .doc = "Shows the way that a packet would go from a node of a graph that runs, by its tables "
	   "as they are. Nothing is sent, learned, held or counted."
	   "\vPACKET is in words, such as \"ether / ipv4 dst=10.0.0.7 / udp dport=53\", or in "
	   "hexadecimal.\n\n"
	   "Exit codes: 0 done, 2 bad input, 3 no such instance runs.",
};

static int explain(const void *of, struct client *client)
{
	const struct explain_args *args = of;
	struct client_request request = {
	    .method = "POST", .path = "/explain", .fault_file = "sluice"};
	json_t *object = json_pack("{s:s, s:s, s:s*}", "node", args->node, "packet", args->packet,
				   "gate", args->gate);
	char *body = object ? json_dumps(object, JSON_COMPACT) : NULL;
	struct client_reply reply;
	int code = EXIT_DONE;

	json_decref(object);
	if (!body) {
		fputs("sluice: error: the arguments are no UTF-8\n", stderr);
		return EXIT_INPUT;
	}
	request.body = body;
	request.n_body = strlen(body);
	if (live_ask(client, &request, &reply, &code)) {
		if (args->live.json) {
			live_print_json(reply.json);
		} else {
			printf(
			    "%s, %lld bytes\n",
			    json_string_value(json_object_get(reply.json, "frame")),
			    (long long)json_integer_value(json_object_get(reply.json, "length")));
			ways_print(json_object_get(reply.json, "ways"), true, stdout);
		}
		client_reply_free(&reply);
	}
	free(body);
	return code;
}

static int explain_run(int argc, char **argv)
{
	struct explain_args args = {0};

	cli_parse(&syntax, argc, argv, &args);
	return live_run(&args, explain);
}

const struct subcommand cli_explain = {
    .name = "explain",
    .args = "NODE PACKET [--gate GATE] [--json] [--name NAME]",
    .help = "shows the way that a packet would go through a graph that runs",
    .run = explain_run,
};
