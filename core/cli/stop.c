// SPDX-License-Identifier: BSD-3-Clause
// SIGINT and SIGTERM for `sluice run`. Both stay blocked in every thread, so that no system call of
// a driver is ever interrupted; a thread of their own waits for them.

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "cli/stop.h"

// Signals belong to the process, and so does this.
static int stop_event = -1;
static int stop_flag;

static void stop_signals(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
}

// Runs before all constructors, those of DPDK's libraries included, and before a sanitizer is
// ready.
__attribute__((no_sanitize("address", "thread", "undefined"))) static void
stop_block(int argc, char **argv, char **environment)
{
	sigset_t set;

	(void)environment;
	if (argc < 2 || argv[1][0] != 'r' || argv[1][1] != 'u' || argv[1][2] != 'n' || argv[1][3])
		return;
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

__attribute__((section(".preinit_array"),
	       used)) static void (*const stop_block_first)(int, char **, char **) = stop_block;

bool stop_requested(void)
{
	return __atomic_load_n(&stop_flag, __ATOMIC_ACQUIRE);
}

void stop_request(void)
{
	__atomic_store_n(&stop_flag, 1, __ATOMIC_RELEASE);
	eventfd_write(stop_event, 1);
}

static void *stop_thread(void *unused)
{
	sigset_t set;
	int sig;

	(void)unused;
	stop_signals(&set);
	sigwait(&set, &sig);
	stop_request();
	sigwait(&set, &sig);
	// The process ends by the signal itself, as if it had never been caught.
	signal(sig, SIG_DFL);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	raise(sig);
	return NULL;
}

bool stop_listen(void)
{
	pthread_t thread;
	sigset_t set;

	stop_signals(&set);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	stop_event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (stop_event < 0 || pthread_create(&thread, NULL, stop_thread, NULL))
		return false;
	pthread_detach(thread);
	return true;
}

void stop_sleep(uint64_t ns)
{
	struct pollfd event = {.fd = stop_event, .events = POLLIN};
	struct timespec time = {.tv_sec = (time_t)(ns / 1000000000),
				.tv_nsec = (long)(ns % 1000000000)};

	ppoll(&event, 1, &time, NULL);
}
