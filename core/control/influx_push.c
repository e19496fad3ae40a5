// SPDX-License-Identifier: BSD-3-Clause
// Posts lines to a server, on a thread of its own. Between it and the control thread is a short
// list of texts; when the server is slow or away the oldest go, and are counted.

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "control/curl.h"
#include "control/influx.h"
#include "run/clock.h"
#include "value/arena.h"
#include "value/log.h"

#define WAITING_MAX 16 // texts
#define REQUEST_MS 10000L
#define CONNECT_MS 5000L
#define STOP_NS 2000000000ULL // for what is left at the end
#define PAUSE_MIN_NS 250000000ULL
#define PAUSE_MAX_NS 30000000000ULL

struct influx_push {
	char *url;
	char shown[128]; // the URL without a password
	struct curl api;
	CURL *curl;	   // the thread's
	char refusal[200]; // how the server's answer begins
	bool away;	   // it was said that the server does not take anything
	pthread_t thread;
	pthread_mutex_t lock; // of all below
	pthread_cond_t more;
	char *waiting[WAITING_MAX]; // the oldest first
	unsigned n;
	struct influx_counts counts;
	uint64_t stop_ns; // when the thread must have ended; 0: not asked to
};

static bool late(struct influx_push *push)
{
	bool is;

	pthread_mutex_lock(&push->lock);
	is = push->stop_ns && monotonic_ns() >= push->stop_ns;
	pthread_mutex_unlock(&push->lock);
	return is;
}

// libcurl asks now and then whether to go on.
static int on_progress(void *arg, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
	(void)a;
	(void)b;
	(void)c;
	(void)d;
	return late(arg);
}

static size_t on_answer(char *data, size_t size, size_t n, void *arg)
{
	struct influx_push *push = arg;
	size_t length = strlen(push->refusal), room = sizeof(push->refusal) - 1 - length;
	size_t part = strnlen(data, size * n < room ? size * n : room);

	memcpy(push->refusal + length, data, part);
	push->refusal[length + part] = '\0';
	push->refusal[strcspn(push->refusal, "\r\n")] = '\0';
	return size * n;
}

enum outcome { TAKEN, REFUSED, AWAY };

// What was refused is refused again when it comes again; what could not be brought is kept.
static enum outcome post(struct influx_push *push, const char *text, const char **why)
{
	const struct curl *api = &push->api;
	CURL *curl = push->curl;
	long status = 0;
	CURLcode code;

	push->refusal[0] = '\0';
	api->reset(curl);
	api->setopt(curl, CURLOPT_URL, push->url);
	api->setopt(curl, CURLOPT_NETRC, (long)CURL_NETRC_OPTIONAL);
	api->setopt(curl, CURLOPT_NOSIGNAL, 1L);
	api->setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS);
	api->setopt(curl, CURLOPT_TIMEOUT_MS, REQUEST_MS);
	api->setopt(curl, CURLOPT_NOPROGRESS, 0L);
	api->setopt(curl, CURLOPT_XFERINFOFUNCTION, on_progress);
	api->setopt(curl, CURLOPT_XFERINFODATA, push);
	api->setopt(curl, CURLOPT_WRITEFUNCTION, on_answer);
	api->setopt(curl, CURLOPT_WRITEDATA, push);
	api->setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)strlen(text));
	api->setopt(curl, CURLOPT_POSTFIELDS, text);
	code = api->perform(curl);
	if (code) {
		*why = api->strerror(code);
		return AWAY;
	}
	api->getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
	if (status >= 200 && status < 300)
		return TAKEN;
	if (!push->refusal[0])
		snprintf(push->refusal, sizeof(push->refusal), "status %ld", status);
	*why = push->refusal;
	return status == 429 || status >= 500 ? AWAY : REFUSED;
}

// Said when it begins and when it is over, not each time.
static void outcome_tell(struct influx_push *push, enum outcome outcome, const char *why)
{
	struct influx_counts counts;

	if (push->away == (outcome != TAKEN))
		return;
	push->away = outcome != TAKEN;
	influx_push_counts(push, &counts);
	if (push->away)
		log_say(LOG_LEVEL_WARNING, NULL, "the counters cannot be written to %s: %s",
			push->shown, why);
	else
		log_say(LOG_LEVEL_NOTE, NULL, "the counters are written to %s again; %lu %s lost",
			push->shown, counts.dropped,
			counts.dropped == 1 ? "time was" : "times were");
}

// The oldest text, once there is one; NULL: the end.
static char *take(struct influx_push *push)
{
	char *text = NULL;

	pthread_mutex_lock(&push->lock);
	while (!push->n && !push->stop_ns)
		pthread_cond_wait(&push->more, &push->lock);
	if (push->n && (!push->stop_ns || monotonic_ns() < push->stop_ns)) {
		text = push->waiting[0];
		push->n--;
		memmove(push->waiting, push->waiting + 1, push->n * sizeof(*push->waiting));
	}
	pthread_mutex_unlock(&push->lock);
	return text;
}

// What could not be brought is the oldest again, unless others have filled the list meanwhile.
// Returns false at the end.
static bool put_back(struct influx_push *push, char *text, uint64_t pause_ns)
{
	struct timespec until;
	bool stopping;

	clock_gettime(CLOCK_MONOTONIC, &until);
	pause_ns += (uint64_t)until.tv_nsec;
	until.tv_sec += (time_t)(pause_ns / 1000000000);
	until.tv_nsec = (long)(pause_ns % 1000000000);
	pthread_mutex_lock(&push->lock);
	push->counts.failures++;
	if (push->n < WAITING_MAX) {
		memmove(push->waiting + 1, push->waiting, push->n * sizeof(*push->waiting));
		push->waiting[0] = text;
		push->n++;
	} else {
		free(text);
		push->counts.dropped++;
	}
	while (!push->stop_ns && !pthread_cond_timedwait(&push->more, &push->lock, &until))
		;
	stopping = push->stop_ns;
	pthread_mutex_unlock(&push->lock);
	return !stopping;
}

static void *push_main(void *arg)
{
	struct influx_push *push = arg;
	uint64_t pause_ns = PAUSE_MIN_NS;
	const char *why = "";
	char *text;

	while ((text = take(push))) {
		enum outcome outcome = post(push, text, &why);

		outcome_tell(push, outcome, why);
		if (outcome == AWAY) {
			if (!put_back(push, text, pause_ns))
				break;
			pause_ns = pause_ns * 2 < PAUSE_MAX_NS ? pause_ns * 2 : PAUSE_MAX_NS;
			continue;
		}
		pause_ns = PAUSE_MIN_NS;
		free(text);
		pthread_mutex_lock(&push->lock);
		push->counts.written += outcome == TAKEN;
		push->counts.dropped += outcome == REFUSED;
		push->counts.failures += outcome == REFUSED;
		pthread_mutex_unlock(&push->lock);
	}
	return NULL;
}

static void push_free(struct influx_push *push)
{
	if (push->curl)
		push->api.cleanup(push->curl);
	for (unsigned i = 0; i < push->n; i++)
		free(push->waiting[i]);
	pthread_cond_destroy(&push->more);
	pthread_mutex_destroy(&push->lock);
	free(push->url);
	free(push);
}

// Scheme, host and path: before and behind them may stand a name and a password.
static void url_show(const char *url, char *shown, size_t size)
{
	const char *host = strstr(url, "://");
	const char *from = host ? host + 3 : url;
	size_t n = strcspn(from, "/?#");
	const char *at = memrchr(from, '@', n);

	n = strcspn(from, "?#");
	if (at) {
		n -= (size_t)(at + 1 - from);
		from = at + 1;
	}
	snprintf(shown, size, "%.*s%.*s", host ? (int)(host + 3 - url) : 0, url, (int)n, from);
}

struct influx_push *influx_push_start(const char *url, struct errors *errors)
{
	struct influx_push *push = memory_new(1, sizeof(*push));
	pthread_condattr_t monotonic;

	push->url = strdup(url);
	url_show(url, push->shown, sizeof(push->shown));
	pthread_mutex_init(&push->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&push->more, &monotonic);
	pthread_condattr_destroy(&monotonic);
	if (!curl_load(&push->api, "cannot write to InfluxDB", errors))
		goto failed;
	push->curl = push->api.init();
	if (push->url && push->curl && !pthread_create(&push->thread, NULL, push_main, push))
		return push;
	error_machine(errors, NULL, "--influx: there is no memory, or no thread, for it");
failed:
	push_free(push);
	return NULL;
}

void influx_push_give(struct influx_push *push, char *text)
{
	pthread_mutex_lock(&push->lock);
	if (push->n == WAITING_MAX) {
		free(push->waiting[0]);
		push->n--;
		memmove(push->waiting, push->waiting + 1, push->n * sizeof(*push->waiting));
		push->counts.dropped++;
	}
	push->waiting[push->n++] = text;
	// The thread may be in a pause, which a signal does not end: it looks at the clock again.
	pthread_cond_signal(&push->more);
	pthread_mutex_unlock(&push->lock);
}

void influx_push_counts(struct influx_push *push, struct influx_counts *counts)
{
	pthread_mutex_lock(&push->lock);
	*counts = push->counts;
	pthread_mutex_unlock(&push->lock);
}

void influx_push_stop(struct influx_push *push)
{
	if (!push)
		return;
	pthread_mutex_lock(&push->lock);
	push->stop_ns = monotonic_ns() + STOP_NS;
	pthread_cond_signal(&push->more);
	pthread_mutex_unlock(&push->lock);
	pthread_join(push->thread, NULL);
	if (push->n)
		log_say(LOG_LEVEL_WARNING, NULL, "the last counters did not reach %s", push->shown);
	push_free(push);
}
