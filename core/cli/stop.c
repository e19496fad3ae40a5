// SPDX-License-Identifier: BSD-3-Clause
// sluice stop: stops an instance cleanly, as SIGTERM does.

#include <errno.h>
#include <poll.h>
#include <sys/pidfd.h>
#include <unistd.h>

#include "cli/live.h"

struct stop_args {
	struct cli_live live;
	bool wait;
};

static const struct argp_option options[] = {
    {"wait", 'w', NULL, 0, "waits until its process has ended", 0},
    {0},
};

static error_t take(void *into, int key, char *arg, struct argp_state *state)
{
	struct stop_args *args = into;

	(void)arg;
	(void)state;
	if (key != 'w')
		return ARGP_ERR_UNKNOWN;
	args->wait = true;
	return 0;
}

static const struct cli_syntax syntax = {
    .shared = &cli_live_argp,
    .options = options,
    .take = take,
    .doc = "Stops a graph that runs: what is on its way is walked to the end."
	   "\vExit codes: 0 done, 3 no such instance runs.",
};

static int stop_ask(const void *of, struct client *client)
{
	const struct stop_args *args = of;
	struct pollfd process = {.fd = -1, .events = POLLIN};
	struct client_reply reply;
	int code = EXIT_DONE;

	// Before it is asked: the number may be another process's afterwards.
	if (args->wait) {
		process.fd = pidfd_open(client_instance(client)->pid, 0);
		if (process.fd < 0)
			fputs("sluice: note: its process cannot be waited for\n", stderr);
	}
	if (live_get(client, "POST", "/stop", &reply, &code)) {
		if (args->live.json)
			live_print_json(reply.json);
		client_reply_free(&reply);
		while (process.fd >= 0 && poll(&process, 1, -1) < 0 && errno == EINTR)
			;
	}
	if (process.fd >= 0)
		close(process.fd);
	return code;
}

static int stop_run(int argc, char **argv)
{
	struct stop_args args = {0};

	cli_parse(&syntax, argc, argv, &args);
	return live_run(&args, stop_ask);
}

const struct subcommand cli_stop = {
    .name = "stop",
    .args = "[--wait] [--json] [--name NAME]",
    .help = "stops a graph that runs",
    .run = stop_run,
};
