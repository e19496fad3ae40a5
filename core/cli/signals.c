// SPDX-License-Identifier: BSD-3-Clause
// SIGINT, SIGTERM and SIGHUP for `sluice run`. They stay blocked in every thread, so that no system
// call of a driver is ever interrupted; a thread of their own waits for them.

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "cli/signals.h"

// Signals belong to the process, and so does this.
static int stop_event = -1;
static int stop_flag;
static int reload_flag;

static void signals_set(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGHUP);
}

// Runs before all constructors, those of DPDK's libraries included, and before a sanitizer is
// ready.
__attribute__((no_sanitize("address", "thread", "undefined"))) static void
signals_block(int argc, char **argv, char **environment)
{
	sigset_t set;

	(void)environment;
	if (argc < 2 || argv[1][0] != 'r' || argv[1][1] != 'u' || argv[1][2] != 'n' || argv[1][3])
		return;
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

__attribute__((section(".preinit_array"),
	       used)) static void (*const signals_block_first)(int, char **,
							       char **) = signals_block;

bool signals_stopping(void)
{
	return __atomic_load_n(&stop_flag, __ATOMIC_ACQUIRE);
}

void signals_stop(void)
{
	__atomic_store_n(&stop_flag, 1, __ATOMIC_RELEASE);
	eventfd_write(stop_event, 1);
}

bool signals_reload(void)
{
	eventfd_t n;

	if (!__atomic_exchange_n(&reload_flag, 0, __ATOMIC_ACQ_REL))
		return false;
	// Only a stop stays seen.
	eventfd_read(stop_event, &n);
	if (signals_stopping())
		eventfd_write(stop_event, 1);
	return true;
}

// When the terminal goes away, that is the end; otherwise SIGHUP asks for the file to be read
// again.
static bool reload_note(int sig)
{
	if (sig != SIGHUP || isatty(STDIN_FILENO))
		return false;
	__atomic_store_n(&reload_flag, 1, __ATOMIC_RELEASE);
	eventfd_write(stop_event, 1);
	return true;
}

static void *signals_thread(void *unused)
{
	bool stopping = false;
	sigset_t set;
	int sig;

	(void)unused;
	signals_set(&set);
	for (;;) {
		sigwait(&set, &sig);
		if (reload_note(sig))
			continue;
		if (stopping)
			break;
		signals_stop();
		stopping = true;
	}
	// The process ends by the signal itself, as if it had never been caught.
	signal(sig, SIG_DFL);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	raise(sig);
	return NULL;
}

bool signals_listen(void)
{
	pthread_t thread;
	sigset_t set;

	signals_set(&set);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	stop_event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (stop_event < 0 || pthread_create(&thread, NULL, signals_thread, NULL))
		return false;
	pthread_detach(thread);
	return true;
}

void signals_sleep(uint64_t ns, int fd)
{
	struct pollfd events[] = {{.fd = stop_event, .events = POLLIN},
				  {.fd = fd, .events = POLLIN}};
	struct timespec time = {.tv_sec = (time_t)(ns / 1000000000),
				.tv_nsec = (long)(ns % 1000000000)};

	ppoll(events, 2, &time, NULL);
}

int signals_event(void)
{
	return stop_event;
}
