// SPDX-License-Identifier: BSD-3-Clause
// Events: what is raised, in its order, to each listener; what is lost is counted and told.

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "control/route.h"
#include "engine.h"
#include "value/log.h"

#define GRAPH                                                                                      \
	"nodes: {make: {Source: {count: 3}}, fwd: {L2Fwd: {size: 64}}}\n"                          \
	"graph: [make -> fwd -> Sink]\n"
#define OTHER                                                                                      \
	"nodes: {make: {Source: {count: 3}}, fwd: {L2Fwd: {size: 64}}, swap: MACSwap}\n"           \
	"graph: [make -> swap -> fwd -> Sink]\n"

static struct control control;
static const char *interval; // as it is asked for

static const char *query(const struct request *request, const char *name)
{
	(void)request;
	return strcmp(name, "interval") ? NULL : interval;
}

static void set_up(void)
{
	interval = "1h";
	control = (struct control){.run = engine_replay(GRAPH)};
	CU_ASSERT_PTR_NOT_NULL_FATAL(control.run);
	control.events = events_new(control.run);
}

static void tear_down(void)
{
	events_free(control.events);
	engine_finish(control.run);
}

static struct answer listener(void)
{
	struct request request = {.control = &control, .run = control.run, .query = query};
	struct answer answer = {.status = 200};

	serve_events(&request, &answer);
	return answer;
}

static void leave(struct answer *answer)
{
	CU_ASSERT_EQUAL_FATAL(answer->status, 200);
	answer->stream.close(answer->stream.state);
}

// The names of the events that have come, and of `lost` how many.
static const char *names(struct answer *answer)
{
	static char list[4096], text[1 << 22];
	ssize_t n = 0, got;

	list[0] = '\0';
	events_tick(control.events);
	// By small parts, so that events are cut.
	while ((got = answer->stream.read(answer->stream.state, text + n, 1000)) > 0)
		n += got;
	text[n] = '\0';
	if (got == STREAM_END)
		strcat(list, "(end) ");
	for (char *at = text; (at = strstr(at, "event: ")); at += 7) {
		const char *data = strstr(at, "\ndata: ") + 7;
		json_t *what = json_loads(data, JSON_DISABLE_EOF_CHECK, NULL);
		json_t *lost = json_object_get(what, "n");

		CU_ASSERT_TRUE(json_is_object(what));
		CU_ASSERT_PTR_NOT_NULL(strstr(data, "\n\n"));
		if (strlen(list) > sizeof(list) - 100)
			*list = '\0';
		strncat(list, at + 7, strcspn(at + 7, "\n"));
		if (lost)
			sprintf(list + strlen(list), "%d", (int)json_integer_value(lost));
		strcat(list, " ");
		json_decref(what);
	}
	return list;
}

#define COMES(ANSWER, WANTED) CU_ASSERT_STRING_EQUAL(names(ANSWER), WANTED)

static void stats_come_at_once_and_each_interval(void)
{
	struct answer often, seldom;

	set_up();
	seldom = listener();
	interval = "50ms";
	often = listener();
	COMES(&seldom, "stats ");
	COMES(&often, "stats ");
	COMES(&seldom, "");
	while (!strcmp(names(&often), ""))
		;
	COMES(&seldom, "");
	CU_ASSERT_TRUE(events_wait_ns(control.events) <= 75000000);
	leave(&often);
	CU_ASSERT_TRUE(events_wait_ns(control.events) > 75000000);
	leave(&seldom);
	CU_ASSERT_EQUAL(events_wait_ns(control.events), UINT64_MAX);
	tear_down();
}

static void who_does_not_read_misses_stats(void)
{
	struct answer answer;
	const char *got;

	set_up();
	interval = "50ms";
	answer = listener();
	events_tick(control.events);
	for (int rounds = 0; rounds < 3; rounds++) {
		while (events_wait_ns(control.events))
			;
		events_tick(control.events);
	}
	got = names(&answer);
	CU_ASSERT_TRUE(!strcmp(got, "stats lost3 ") || !strcmp(got, "stats lost4 "));
	leave(&answer);
	tear_down();
}

static void what_is_done_is_told(void)
{
	struct answer answer;
	struct errors *errors;
	char *faults = NULL;
	json_t *reply;

	set_up();
	answer = listener();
	COMES(&answer, "stats ");
	errors = errors_new();
	reply = run_command(control.run, "fwd", "info", NULL, errors);
	json_decref(reply);
	CU_ASSERT_PTR_NULL(run_command(control.run, "fwd", "inof", NULL, errors));
	errors_free(errors);
	CU_ASSERT_TRUE(engine_switch(control.run, OTHER, false, NULL));
	CU_ASSERT_FALSE(engine_switch(control.run, "nodes: {}\n", false, &faults));
	free(faults);
	event_raise(&control, "capture", json_object());
	log_say(LOG_LEVEL_NOTE, NULL, "a note of \xff\xc3");
	log_say(LOG_LEVEL_ERROR, &(struct log_about){.place = "g.yaml:1:2"}, "a fault");
	COMES(&answer, "command graph capture note fault ");
	answer.stream.stop(answer.stream.state);
	COMES(&answer, "(end) stop ");
	leave(&answer);
	log_say(LOG_LEVEL_NOTE, NULL, "nobody listens");
	tear_down();
}

static void what_does_not_fit_is_counted(void)
{
	struct answer slow, quick;

	set_up();
	slow = listener();
	quick = listener();
	for (int i = 0; i < 10; i++) {
		for (int k = 0; k < 20; k++)
			event_raise(&control, "x", json_object());
		CU_ASSERT_EQUAL(strlen(names(&quick)), (i ? 0 : strlen("stats ")) + 20 * 2);
	}
	// 63 have room: 62 of these beside the stats.
	CU_ASSERT_PTR_NOT_NULL(strstr(names(&slow), "x lost138 "));
	event_raise(&control, "y", json_object());
	COMES(&slow, "y ");
	// More than the inbox has room for, too.
	for (int k = 0; k < 300; k++)
		event_raise(&control, "x", json_object());
	CU_ASSERT_PTR_NOT_NULL(strstr(names(&quick), "x lost238 "));
	leave(&slow);
	leave(&quick);
	tear_down();
}

static void *raise_some(void *unused)
{
	(void)unused;
	for (int i = 0; i < 1000; i++)
		event_raise(&control, "x", json_pack("{s:i}", "i", i));
	return NULL;
}

static void any_thread_may_raise(void)
{
	struct answer answer;
	pthread_t threads[2];

	set_up();
	answer = listener();
	for (int i = 0; i < 2; i++)
		CU_ASSERT_FATAL(!pthread_create(&threads[i], NULL, raise_some, NULL));
	for (int i = 0; i < 100; i++)
		names(&answer);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	leave(&answer);
	tear_down();
}

static void only_so_many_listen(void)
{
	struct answer answers[17];

	set_up();
	for (int i = 0; i < 17; i++)
		answers[i] = listener();
	CU_ASSERT_EQUAL(answers[16].status, 503);
	json_decref(answers[16].json);
	for (int i = 0; i < 16; i++)
		leave(&answers[i]);
	tear_down();
}

static void intervals_are_checked(void)
{
	static const char *const wrong[] = {"", "0s", "49ms", "25h", "1", "-1s", "x"};

	set_up();
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct answer answer;

		interval = wrong[i];
		answer = listener();
		CU_ASSERT_EQUAL(answer.status, 400);
		json_decref(answer.json);
	}
	tear_down();
}

static const CU_TestInfo cases[] = {
    {"stats come at once and each interval", stats_come_at_once_and_each_interval},
    {"who does not read misses stats", who_does_not_read_misses_stats},
    {"what is done is told, whoever does it", what_is_done_is_told},
    {"what does not fit is counted", what_does_not_fit_is_counted},
    {"any thread may raise one", any_thread_may_raise},
    {"only so many listen", only_so_many_listen},
    {"intervals are checked", intervals_are_checked},
    CU_TEST_INFO_NULL,
};
SUITE(control_events, cases, .eal = true)
