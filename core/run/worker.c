// SPDX-License-Identifier: BSD-3-Clause
// A worker: a pinned thread, registered with DPDK, that polls sources until it is told to stop.

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_pause.h>

#include "run/inside.h"

#define EMPTY_POLLS 1000    // before a worker sleeps
#define SLEEP_MAX_NS 100000 // the longest sleep
#define LAST_PASSES 64	    // over loops, when stopping

static int request_read(const struct worker *worker)
{
	return __atomic_load_n(&worker->request, __ATOMIC_SEQ_CST);
}

static void worker_park(struct worker *worker)
{
	uint64_t before = rte_rdtsc();
	unsigned spins = 0;

	__atomic_store_n(&worker->parked, 1, __ATOMIC_SEQ_CST);
	while (request_read(worker) == WORKER_PARK) {
		// The control thread may have to share this core.
		if (++spins % 128 == 0)
			sched_yield();
		rte_pause();
	}
	worker->parked_last = rte_rdtsc() - before;
	counter_add(&worker->parked_cycles, worker->parked_last);
	counter_add(&worker->parks, 1);
	// The next request is read after this: whoever asks for the next park either sees it, or
	// is seen.
	__atomic_store_n(&worker->parked, 0, __ATOMIC_SEQ_CST);
	worker->empty = 0;
}

// Nothing came for a while: sleep, longer each time; 1 us at first.
static void worker_sleep(struct worker *worker)
{
	unsigned over = (worker->empty - EMPTY_POLLS) / 16;
	struct timespec time = {.tv_nsec = over < 7 ? 1000L << over : SLEEP_MAX_NS};

	if (time.tv_nsec > SLEEP_MAX_NS)
		time.tv_nsec = SLEEP_MAX_NS;
	nanosleep(&time, NULL);
	time_update(worker, false);
}

static void settled_note(struct worker *worker)
{
	int settled = walk_settled(worker);

	if (settled != worker->settled)
		__atomic_store_n(&worker->settled, settled, __ATOMIC_RELEASE);
}

static void worker_loop(struct worker *worker)
{
	for (;;) {
		int request = request_read(worker);

		if (unlikely(request != WORKER_RUN)) {
			if (request == WORKER_STOP)
				return;
			worker_park(worker);
			continue;
		}
		if (likely(walk_poll(worker) > 0)) {
			worker->empty = 0;
			continue;
		}
		settled_note(worker);
		if (++worker->empty >= EMPTY_POLLS && !worker->spin && !worker->pending_any)
			worker_sleep(worker);
		else if (worker->spin && worker->empty > (1U << 30))
			worker->empty = EMPTY_POLLS;
	}
}

static void worker_finish(struct worker *worker)
{
	for (unsigned i = 0; i < LAST_PASSES && walk_pending(worker); i++)
		;
	walk_discard(worker);
	time_update(worker, false);
	settled_note(worker);
}

static void *worker_main(void *arg)
{
	struct worker *worker = arg;

	// Sleeps of a microsecond, not of 50 and more.
	prctl(PR_SET_TIMERSLACK, 1UL);
	if (rte_thread_register()) {
		__atomic_store_n(&worker->failed, rte_errno ? rte_errno : ENOMEM, __ATOMIC_RELEASE);
		__atomic_store_n(&worker->parked, 1, __ATOMIC_RELEASE);
		return NULL;
	}
	worker->last_tsc = rte_rdtsc();
	worker->now_ns = clock_now(worker->clock);
	worker_park(worker);
	worker_loop(worker);
	worker_finish(worker);
	rte_thread_unregister();
	return NULL;
}

// The times are in the worker's own TSC: what it lost, not what whoever parked it saw.
uint64_t run_parked_ns(const struct run *run)
{
	uint64_t longest = 0;

	for (unsigned i = 0; i < run->n_workers; i++) {
		struct worker *worker = run->workers[i];

		while (worker->started && worker_parked(worker) &&
		       request_read(worker) == WORKER_RUN)
			sched_yield();
		longest = RTE_MAX(longest, worker->parked_last);
	}
	return (uint64_t)((double)longest * 1e9 / (double)run_cycles_hz());
}

bool worker_parked(const struct worker *worker)
{
	return __atomic_load_n(&worker->parked, __ATOMIC_SEQ_CST);
}

void worker_ask(struct worker *worker, enum worker_request request)
{
	__atomic_store_n(&worker->request, request, __ATOMIC_SEQ_CST);
}

// Starts the thread parked.
int worker_start(struct worker *worker, struct place place, struct errors *errors)
{
	pthread_attr_t attr;
	cpu_set_t cores;
	int error;

	CPU_ZERO(&cores);
	CPU_SET(worker->core, &cores);
	pthread_attr_init(&attr);
	if (!worker->run->options.no_cores)
		pthread_attr_setaffinity_np(&attr, sizeof(cores), &cores);
	worker->request = WORKER_PARK;
	error = pthread_create(&worker->thread, &attr, worker_main, worker);
	pthread_attr_destroy(&attr);
	if (error) {
		error_machine_at(errors, place, "cannot start a worker on core %d: %s",
				 worker->core, strerror(error));
		return -1;
	}
	worker->started = true;
	while (!worker_parked(worker))
		sched_yield();
	error = __atomic_load_n(&worker->failed, __ATOMIC_ACQUIRE);
	if (error) {
		error_machine_at(errors, place, "cannot register a worker with DPDK: %s",
				 rte_strerror(error));
		return -1;
	}
	return 0;
}

void workers_stop(struct worker **workers, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		struct worker *worker = workers[i];

		worker_ask(worker, WORKER_STOP);
		if (worker->started)
			pthread_join(worker->thread, NULL);
		else
			walk_discard(worker);
		worker->started = false;
	}
}
