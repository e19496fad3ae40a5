// SPDX-License-Identifier: BSD-3-Clause
// Starts DPDK's environment, once, and keeps what it says and does meanwhile from the user.

#include "port/eal.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_errno.h>

#include "port/eal_args.h"
#include "port/eal_folder.h"
#include "port/eal_memory.h"
#include "port/eallog.h"
#include "value/arena.h"
#include "value/errors.h"
#include "value/log.h"

static struct {
	bool running;
	bool stopped;
	bool hugepages;
	bool pci;
	uint64_t memory_bytes; // without hugepages all there will ever be
} eal;

// EAL makes a folder for files that we do not let it write, wherever it may be that this user can
// write to or not. It gets along without one, so it is shown a place where there can be none; with
// telemetry, the one that was made for it. False: the files are wanted, because other processes
// share them.
static bool eal_folder_choose(const struct eal_args *args, struct eal_folder *folder)
{
	if (!EAL_HAVE(args, "--no-shconf", "--in-memory"))
		return false;
	eal_folder_show(folder, EAL_HAVE(args, "--no-telemetry") ? EAL_NOWHERE : eal_folder_base());
	return true;
}

// While EAL starts, what it writes to the standard streams itself (alerts, pages of usage) is kept
// from the user's terminal and from the JSON on standard output.
struct eal_hush {
	int out;
	int err;
	int said;
};

static void eal_hush_begin(struct eal_hush *hush)
{
	int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);

	fflush(stdout);
	fflush(stderr);
	// Who looks for a fault sees all of it.
	hush->said = log_level() == LOG_LEVEL_DEBUG ? -1 : memfd_create("sluice-eal", MFD_CLOEXEC);
	hush->out = nowhere < 0 ? -1 : fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	hush->err = hush->said < 0 ? -1 : fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	if (hush->out >= 0)
		dup2(nowhere, STDOUT_FILENO);
	if (hush->err >= 0)
		dup2(hush->said, STDERR_FILENO);
	if (nowhere >= 0)
		close(nowhere);
}

static void eal_hush_end(struct eal_hush *hush, struct eallog_caught *caught)
{
	char text[1024];
	ssize_t n;

	fflush(stdout);
	fflush(stderr);
	if (hush->out >= 0) {
		dup2(hush->out, STDOUT_FILENO);
		close(hush->out);
	}
	if (hush->err >= 0) {
		dup2(hush->err, STDERR_FILENO);
		close(hush->err);
	}
	if (hush->said < 0)
		return;
	n = pread(hush->said, text, sizeof(text), 0);
	if (n > 0)
		eallog_add(caught, text, (size_t)n);
	close(hush->said);
}

static int eal_init(const struct eal_wishes *wishes, struct errors *errors)
{
	bool hugepages;
	struct eal_args args = eal_args_pick(wishes, &hugepages);
	char *text = eal_args_text(&args);
	char **argv = memory_new((size_t)args.argc + 1, sizeof(char *)); // EAL shuffles them
	struct eallog_caught caught;
	struct eal_folder folder;
	bool chosen;
	struct eal_hush hush;
	char reason[EALLOG_CAUGHT_MAX];
	cpu_set_t allowed;
	bool pinned = !sched_getaffinity(0, sizeof(allowed), &allowed);
	int result;

	memcpy(argv, args.argv, (size_t)args.argc * sizeof(char *));
	eallog_open();
	eallog_catch_begin(&caught);
	chosen = eal_folder_choose(&args, &folder);
	eal_hush_begin(&hush);
	result = rte_eal_init(args.argc, argv);
	eal_hush_end(&hush, &caught);
	if (chosen)
		eal_folder_restore(&folder);
	eallog_catch_end(&caught);
	if (pinned)
		sched_setaffinity(0, sizeof(allowed), &allowed);
	if (result >= 0) {
		eal.running = true;
		eal.hugepages = hugepages;
		eal.pci = wishes->pci;
		eal.memory_bytes = eal_with_room(wishes->memory_bytes);
	} else if (wishes->more && *wishes->more && rte_errno == EINVAL) {
		error_input(errors, NULL, "eal: DPDK does not take the arguments `%s`%s", text,
			    eallog_reason(&caught, reason, sizeof(reason)));
	} else {
		error_machine(errors, NULL, "DPDK does not start with `%s`%s", text,
			      eallog_reason(&caught, reason, sizeof(reason)));
	}
	free(text);
	free(argv);
	eal_args_free(&args);
	return result < 0 ? -1 : 0;
}

static int eal_keep(const struct eal_wishes *wishes, struct errors *errors)
{
	unsigned before = errors_count(errors);

	if (wishes->pci && !eal.pci)
		error_machine(errors, NULL,
			      "DPDK was started without the PCI bus and cannot add it later, "
			      "start the program with a graph that has a pci port");
	if (!eal.hugepages && wishes->memory_bytes > eal.memory_bytes)
		error_machine(
		    errors, NULL,
		    "%" PRIu64 " MiB of memory are needed, and DPDK was started with "
		    "%" PRIu64 " MiB; without hugepages it cannot grow, so restart the "
		    "program, with a larger `memory:` in the first graph or with hugepages",
		    wishes->memory_bytes / MIB, eal.memory_bytes / MIB);
	return errors_count(errors) > before ? -1 : 0;
}

int eal_start(const struct eal_wishes *wishes, struct errors *errors)
{
	if (eal.running)
		return eal_keep(wishes, errors);
	if (eal.stopped) {
		error_machine(errors, NULL,
			      "DPDK was stopped and cannot start a second time in "
			      "one process, restart the program");
		return -1;
	}
	if (wishes->memory_bytes > eal_memory_available() &&
	    wishes->memory_bytes > eal_hugepages_free()) {
		error_machine(errors, NULL,
			      "%" PRIu64 " MiB of memory are needed, and this machine has "
			      "%" PRIu64 " MiB free; use fewer or smaller queues and tables",
			      wishes->memory_bytes / MIB, eal_memory_available() / MIB);
		return -1;
	}
	return eal_init(wishes, errors);
}

bool eal_running(void)
{
	return eal.running;
}

bool eal_hugepages(void)
{
	return eal.hugepages;
}

void eal_stop(void)
{
	if (!eal.running)
		return;
	rte_eal_cleanup();
	eallog_close();
	eal.running = false;
	eal.stopped = true;
}
