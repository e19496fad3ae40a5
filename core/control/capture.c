// SPDX-License-Identifier: BSD-3-Clause
// Captures from their beginning to their end, on the control thread.

#include "control/capture.h"

#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define TAP_TRIES 3
#define UNTAP_NS 500000000 // until that is tried again which a worker that does not park prevented

static void capture_free(struct capture *capture)
{
	struct capture_lane *next;

	for (struct capture_lane *lane = capture->lanes; lane; lane = next) {
		next = lane->next;
		ring_free(&lane->ring);
		free(lane);
	}
	ring_free(&capture->out);
	filter_free(&capture->filter);
	waker_free(capture->waker);
	if (capture->event >= 0)
		close(capture->event);
	arena_free(capture->arena);
	free(capture);
}

// Whether no worker knows of it any more.
static bool capture_untap(struct capture *capture)
{
	struct errors *errors;

	if (!capture->tapped)
		return true;
	if (capture->untap_ns && !capture->control->closing &&
	    capture_wall_ns() - capture->untap_ns < UNTAP_NS)
		return false;
	errors = errors_new();
	capture->tapped = run_untap(capture->run, &capture->tap, errors) != 0;
	capture->untap_ns = capture_wall_ns();
	errors_free(errors);
	return !capture->tapped;
}

static void order_give(struct capture *capture, enum capture_order order)
{
	__atomic_store_n(&capture->order, order, __ATOMIC_RELEASE);
	capture_wake(capture);
}

void capture_finish(struct capture *capture, const char *reason)
{
	if (capture->order != CAPTURE_GO_ON)
		return;
	// Where it cannot be taken away now, what comes in the meantime is not written.
	capture_untap(capture);
	capture->reason = reason;
	order_give(capture, CAPTURE_FINISH);
}

static void capture_remove(struct capture *capture)
{
	struct capture **at = &capture->control->captures;

	while (*at != capture)
		at = &(*at)->next;
	*at = capture->next;
	capture_free(capture);
}

static void capture_tell(const struct capture *capture, const char *state)
{
	event_raise(capture->control, "capture",
		    json_pack("{s:i, s:s}", "id", (int)capture->id, "state", state));
}

void capture_close(struct capture *capture)
{
	capture_tell(capture, "ended");
	order_give(capture, CAPTURE_GIVE_UP);
	pthread_join(capture->thread, NULL);
	capture->closed = true;
	if (capture_untap(capture))
		capture_remove(capture);
}

ssize_t capture_read(struct capture *capture, char *to, size_t n)
{
	struct ring *ring = &capture->out;
	int ended = __atomic_load_n(&capture->ended, __ATOMIC_ACQUIRE);
	uint64_t filled = ring_filled(ring) - ring->head;

	if (!filled)
		return ended ? STREAM_END : 0;
	if (n > filled)
		n = filled;
	memcpy(to, ring_at(ring, ring->head), n);
	__atomic_store_n(&ring->head, ring->head + n, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&capture->hungry, __ATOMIC_SEQ_CST) && filled - n <= ring->size / 4)
		capture_wake(capture);
	return (ssize_t)n;
}

void captures_tick(struct control *control)
{
	struct capture *next;

	for (struct capture *capture = control->captures; capture; capture = next) {
		next = capture->next;
		if (capture->closed) {
			if (capture_untap(capture))
				capture_remove(capture);
		} else if (__atomic_load_n(&capture->ended, __ATOMIC_ACQUIRE)) {
			capture_untap(capture);
		} else if (capture->broken) {
			capture_finish(capture, capture->broken);
		} else if (!capture_target_there(run_graph(capture->run), &capture->wish)) {
			capture_finish(capture, capture->wish.port ? "the port is gone"
								   : "the node is gone");
		}
	}
}

static bool filter_make(struct capture *capture, struct errors *errors)
{
	char why[FILTER_WHY];

	if (!*capture->wish.filter)
		return true;
	switch (filter_compile(capture->wish.filter, &capture->filter, why)) {
	case FILTER_COMPILED:
		filter_translate(&capture->filter);
		capture->filters = true;
		return true;
	case FILTER_WRONG:
		error_input(errors, "filter", "%s", why);
		return false;
	default:
		error_machine(errors, "filter", "%s", why);
		return false;
	}
}

// On a machine that is busy a worker may not get to stop in time.
static bool capture_tap(struct capture *capture, struct errors *errors)
{
	for (unsigned i = 0; i < TAP_TRIES && !capture->tapped; i++) {
		bool last = i + 1 == TAP_TRIES;
		struct errors *mine = last ? errors : errors_new();

		capture->tapped = !run_tap(capture->run, &capture->tap, mine);
		if (!last)
			errors_free(mine);
	}
	return capture->tapped;
}

// The thread keeps off the workers' cores.
static int thread_start(struct capture *capture)
{
	cpu_set_t cores = graph_cores_beside(run_graph(capture->run));
	pthread_attr_t attr;
	int error;

	pthread_attr_init(&attr);
	pthread_attr_setaffinity_np(&attr, sizeof(cores), &cores);
	error = pthread_create(&capture->thread, &attr, capture_thread, capture);
	pthread_attr_destroy(&attr);
	return error;
}

static bool capture_start(struct capture *capture, struct errors *errors)
{
	if (!ring_make(&capture->out, CAPTURE_OUT_BYTES) || capture->event < 0 || !capture->waker) {
		error_machine(errors, NULL, "there is no memory for a capture");
		return false;
	}
	if (!filter_make(capture, errors))
		return false;
	if (!capture_tap(capture, errors))
		return false;
	if (!thread_start(capture))
		return true;
	error_machine(errors, NULL, "no thread can be started");
	return false;
}

struct capture *capture_begin(struct control *control, const struct capture_wish *wish,
			      struct errors *errors)
{
	struct capture *capture;
	unsigned n = 0;

	for (capture = control->captures; capture; capture = capture->next)
		n++;
	if (n == CAPTURES_MAX) {
		error_machine(errors, NULL, "%u captures run already, which is the most", n);
		return NULL;
	}
	capture = memory_lines(sizeof(*capture));
	capture->tap = (struct tap){.wants = capture_wants, .leaves = capture_leaves};
	capture->run = control->run;
	capture->control = control;
	capture->arena = arena_new();
	capture->wish = *wish;
	capture->wish.name = arena_strdup(capture->arena, wish->name);
	capture->wish.gate = arena_strdup(capture->arena, wish->gate);
	capture->wish.filter = arena_strdup(capture->arena, wish->filter);
	capture->graph_file = arena_strdup(capture->arena, run_graph(control->run)->file);
	capture->begun_ns = capture_wall_ns();
	capture->clock = run_clock(control->run);
	capture->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	capture->waker = waker_new();
	capture->next = control->captures;
	control->captures = capture;
	if (capture_start(capture, errors)) {
		capture->id = ++control->n_captures;
		capture_tell(capture, "begun");
		return capture;
	}
	capture->closed = true;
	if (capture_untap(capture))
		capture_remove(capture);
	return NULL;
}
