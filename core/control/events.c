// SPDX-License-Identifier: BSD-3-Clause
// Server-sent events: what any thread raises goes into one inbox, from there at the control
// thread's next turn to a queue for each listener. Queues are bounded; what does not fit is
// counted, and the listener is told how much it has missed.

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "control/route.h"
#include "run/clock.h"
#include "value/log.h"
#include "value/table.h"

#define LISTENERS_MAX 16
#define INBOX_MAX 256
#define QUEUE_MAX 64
#define QUEUE_BYTES (2u << 20)	    // one event may be longer
#define QUIET_NS 15000000000ull	    // after so long without an event a comment is sent
#define INTERVAL_MIN_NS 50000000ull // of stats
#define INTERVAL_MAX_NS 86400000000000ull

// One event as it is sent, in any number of queues.
struct message {
	unsigned keepers;
	size_t n;
	bool stats;
	char text[];
};

struct listener {
	struct events *events;
	struct waker *waker;
	struct message *queue[QUEUE_MAX];
	unsigned first, n;
	size_t n_bytes;				  // of all in the queue
	size_t sent;				  // of the first
	uint64_t lost;				  // since it was last told
	uint64_t interval_ns, stats_ns, quiet_ns; // stats_ns, quiet_ns: when the next is due
	bool stats_wait;			  // some are in the queue: newer ones are lost
	bool ended;				  // nothing comes behind what is in the queue
	struct listener *next;
};

struct events {
	struct run *run;
	struct listener *listeners;
	unsigned n_listeners; // atomic: others read it

	pthread_mutex_t lock; // of the rest
	struct message *inbox[INBOX_MAX];
	unsigned n_inbox;
	uint64_t lost; // in the inbox
};

static struct message *message_text(const char *text, size_t n)
{
	struct message *message = memory_new(1, sizeof(*message) + n);

	message->keepers = 1;
	message->n = n;
	memcpy(message->text, text, n);
	return message;
}

static struct message *message_new(const char *name, json_t *what)
{
	char *json = json_dumps(what, JSON_COMPACT | JSON_REAL_PRECISION(12)), *text;
	struct message *message = NULL;
	int n = -1;

	json_decref(what);
	if (json)
		n = asprintf(&text, "event: %s\ndata: %s\n\n", name, json);
	if (n >= 0) {
		message = message_text(text, (size_t)n);
		free(text);
	}
	free(json);
	return message;
}

static void message_free(struct message *message)
{
	if (message && !--message->keepers)
		free(message);
}

static bool queue_has_room(const struct listener *listener, size_t n)
{
	// One place is for telling what was lost.
	return !listener->n ||
	       (listener->n < QUEUE_MAX - 1 && listener->n_bytes + n <= QUEUE_BYTES);
}

static void queue_put(struct listener *listener, struct message *message)
{
	listener->queue[(listener->first + listener->n++) % QUEUE_MAX] = message;
	listener->n_bytes += message->n;
	message->keepers++;
}

static void lost_tell(struct listener *listener)
{
	struct message *message =
	    message_new("lost", json_pack("{s:I}", "n", (json_int_t)listener->lost));

	if (!message)
		return;
	queue_put(listener, message);
	message_free(message);
	listener->lost = 0;
}

static void listener_tell(struct listener *listener, struct message *message, uint64_t now)
{
	if (!queue_has_room(listener, message->n)) {
		listener->lost++;
		return;
	}
	if (listener->lost)
		lost_tell(listener);
	queue_put(listener, message);
	listener->quiet_ns = now + QUIET_NS;
	waker_wake(listener->waker);
}

// The times of stats are multiples of the interval, so that listeners share what is made for them.
static void stats_next(struct listener *listener, uint64_t now)
{
	uint64_t interval = listener->interval_ns;

	listener->stats_ns = (now + interval + interval / 2) / interval * interval;
}

static void stats_tell(struct listener *listener, struct message **stats, uint64_t now)
{
	if (now < listener->stats_ns)
		return;
	stats_next(listener, now);
	if (listener->stats_wait) {
		listener->lost++;
		return;
	}
	if (!*stats)
		*stats = message_new("stats", run_json(listener->events->run));
	if (!*stats)
		return;
	(*stats)->stats = true;
	listener_tell(listener, *stats, now);
	listener->stats_wait = true;
}

static ssize_t listener_read(void *state, char *to, size_t n)
{
	struct listener *listener = state;
	size_t done = 0;

	if (!listener->n && listener->lost)
		lost_tell(listener);
	while (listener->n && done < n) {
		struct message *message = listener->queue[listener->first];
		size_t part = message->n - listener->sent;

		if (part > n - done)
			part = n - done;
		memcpy(to + done, message->text + listener->sent, part);
		done += part;
		listener->sent += part;
		if (listener->sent < message->n)
			break;
		listener->sent = 0;
		listener->first = (listener->first + 1) % QUEUE_MAX;
		listener->n--;
		listener->n_bytes -= message->n;
		if (message->stats)
			listener->stats_wait = false;
		message_free(message);
	}
	return !done && listener->ended ? STREAM_END : (ssize_t)done;
}

static void listener_stop(void *state)
{
	struct listener *listener = state;
	struct message *message = message_new("stop", json_object());

	if (message)
		listener_tell(listener, message, monotonic_ns());
	message_free(message);
	listener->ended = true;
}

static void hear_run(void *to, const char *event, json_t *what);
static void hear_said(void *to, enum log_level level, const char *text);

// Nothing is listened to for nobody.
static void listen_to_all(struct events *events, bool listen)
{
	run_listen(events->run, listen ? hear_run : NULL, events);
	log_listen(listen ? hear_said : NULL, events);
}

static void listener_close(void *state)
{
	struct listener *listener = state, **at = &listener->events->listeners;

	while (*at != listener)
		at = &(*at)->next;
	*at = listener->next;
	for (; listener->n; listener->n--) {
		message_free(listener->queue[listener->first]);
		listener->first = (listener->first + 1) % QUEUE_MAX;
	}
	if (!__atomic_sub_fetch(&listener->events->n_listeners, 1, __ATOMIC_RELAXED))
		listen_to_all(listener->events, false);
	waker_free(listener->waker);
	free(listener);
}

static void events_raise(struct events *events, const char *name, json_t *what)
{
	struct message *message;

	if (!__atomic_load_n(&events->n_listeners, __ATOMIC_RELAXED)) {
		json_decref(what);
		return;
	}
	message = message_new(name, what);
	pthread_mutex_lock(&events->lock);
	if (message && events->n_inbox < INBOX_MAX) {
		events->inbox[events->n_inbox++] = message;
		message = NULL;
	} else {
		events->lost++;
	}
	pthread_mutex_unlock(&events->lock);
	free(message);
}

void event_raise(struct control *control, const char *name, json_t *what)
{
	events_raise(control->events, name, what);
}

static void hear_run(void *to, const char *event, json_t *what)
{
	events_raise(to, event, what);
}

// A text need not be UTF-8, and may be cut off within a character.
static void hear_said(void *to, enum log_level level, const char *text)
{
	char *copy = strdup(text);

	for (char *at = copy; at && *at; at++)
		if ((unsigned char)*at >= 0x80)
			*at = '?';
	if (copy)
		events_raise(to, level == LOG_LEVEL_ERROR ? "fault" : "note",
			     json_pack("{s:s}", "message", copy));
	free(copy);
}

// What has come in since the last turn, to all queues.
static void inbox_empty(struct events *events, uint64_t now)
{
	struct message *inbox[INBOX_MAX];
	uint64_t lost;
	unsigned n;

	pthread_mutex_lock(&events->lock);
	n = events->n_inbox;
	lost = events->lost;
	memcpy(inbox, events->inbox, n * sizeof(struct message *));
	events->n_inbox = 0;
	events->lost = 0;
	pthread_mutex_unlock(&events->lock);
	for (struct listener *to = events->listeners; to; to = to->next) {
		for (unsigned i = 0; i < n; i++)
			listener_tell(to, inbox[i], now);
		to->lost += lost;
	}
	for (unsigned i = 0; i < n; i++)
		message_free(inbox[i]);
}

void events_tick(struct events *events)
{
	struct message *stats = NULL;
	uint64_t now;

	if (!events->listeners)
		return;
	now = monotonic_ns();
	inbox_empty(events, now);
	for (struct listener *to = events->listeners; to; to = to->next) {
		stats_tell(to, &stats, now);
		if (now >= to->quiet_ns) {
			struct message *comment = message_text(":\n\n", 3);

			listener_tell(to, comment, now);
			message_free(comment);
		}
	}
	message_free(stats);
}

uint64_t events_wait_ns(const struct events *events)
{
	uint64_t next = UINT64_MAX, now = events->listeners ? monotonic_ns() : 0;

	for (const struct listener *to = events->listeners; to; to = to->next) {
		next = to->stats_ns < next ? to->stats_ns : next;
		next = to->quiet_ns < next ? to->quiet_ns : next;
	}
	return next == UINT64_MAX ? next : next > now ? next - now : 0;
}

struct events *events_new(struct run *run)
{
	struct events *events = memory_new(1, sizeof(*events));

	events->run = run;
	pthread_mutex_init(&events->lock, NULL);
	return events;
}

void events_free(struct events *events)
{
	for (unsigned i = 0; i < events->n_inbox; i++)
		message_free(events->inbox[i]);
	pthread_mutex_destroy(&events->lock);
	free(events);
}

const char *const events_queries[] = {"interval", NULL};

static bool interval_read(const struct request *request, uint64_t *ns, struct answer *answer)
{
	const char *text = request->query(request, "interval"), *why;
	struct duration interval = {.ns = 1000000000};

	if (text && !parse_duration(text, &interval, &why)) {
		answer_error(answer, 400, "interval: \"%s\" %s", text, why);
		return false;
	}
	if (interval.ns < INTERVAL_MIN_NS || interval.ns > INTERVAL_MAX_NS) {
		answer_error(answer, 400,
			     "interval: \"%s\" is out of range, it should be 50ms to 24h", text);
		return false;
	}
	*ns = interval.ns;
	return true;
}

void serve_events(const struct request *request, struct answer *answer)
{
	struct events *events = request->control->events;
	struct waker *waker;
	struct listener *listener;
	uint64_t interval;

	if (!interval_read(request, &interval, answer))
		return;
	waker = events->n_listeners < LISTENERS_MAX ? waker_new() : NULL;
	if (!waker) {
		answer_error(answer, 503, "%u clients listen to events already", LISTENERS_MAX);
		return;
	}
	listener = memory_new(1, sizeof(*listener));
	*listener = (struct listener){.events = events,
				      .waker = waker,
				      .interval_ns = interval,
				      .quiet_ns = monotonic_ns() + QUIET_NS,
				      .next = events->listeners};
	events->listeners = listener;
	if (__atomic_fetch_add(&events->n_listeners, 1, __ATOMIC_RELAXED) == 0)
		listen_to_all(events, true);
	answer->type = "text/event-stream";
	answer->stream = (struct answer_stream){.read = listener_read,
						.stop = listener_stop,
						.close = listener_close,
						.state = listener,
						.waker = waker};
}
