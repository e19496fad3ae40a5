// SPDX-License-Identifier: BSD-3-Clause
// Answers as streams: bytes that another thread makes, clients that leave or do not read, the end
// of the server, long JSON.

#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <microhttpd.h>

#include "control/route.h"
#include "suite.h"

#define RING_BYTES (1u << 16)
#define WAIT_SECONDS 20

// A thread makes numbered bytes into a ring, and drops those that do not fit.
struct maker {
	struct waker *waker;
	uint8_t ring[RING_BYTES];
	uint64_t made, taken; // atomic
	uint64_t most;	      // how many it makes; then the stream ends
	bool waits;	      // for room, instead of making nothing
	bool stopped, closed; // atomic
};

static struct maker maker;

static uint8_t byte_at(uint64_t at)
{
	return (uint8_t)(at * 2654435761u >> 16);
}

static ssize_t maker_read(void *state, char *to, size_t n)
{
	struct maker *from = state;
	uint64_t made = __atomic_load_n(&from->made, __ATOMIC_ACQUIRE);
	uint64_t taken = __atomic_load_n(&from->taken, __ATOMIC_RELAXED);

	if (taken == from->most || (from->stopped && taken == made))
		return STREAM_END;
	if (n > made - taken)
		n = made - taken;
	for (size_t i = 0; i < n; i++)
		to[i] = (char)from->ring[(taken + i) % RING_BYTES];
	__atomic_store_n(&from->taken, taken + n, __ATOMIC_RELEASE);
	return (ssize_t)n;
}

static void maker_stop(void *state)
{
	__atomic_store_n(&((struct maker *)state)->stopped, true, __ATOMIC_RELEASE);
}

static void maker_close(void *state)
{
	struct maker *from = state;

	waker_free(from->waker);
	__atomic_store_n(&from->closed, true, __ATOMIC_RELEASE);
}

static void make(struct maker *to, uint64_t n)
{
	uint64_t made = to->made;

	for (uint64_t i = 0; i < n; i++)
		to->ring[(made + i) % RING_BYTES] = byte_at(made + i);
	__atomic_store_n(&to->made, made + n, __ATOMIC_RELEASE);
	waker_wake(to->waker);
}

static void *make_all(void *state)
{
	struct maker *to = state;
	struct waker *waker = waker_keep(to->waker);

	while (to->made < to->most && !__atomic_load_n(&to->closed, __ATOMIC_ACQUIRE)) {
		uint64_t free =
		    RING_BYTES - (to->made - __atomic_load_n(&to->taken, __ATOMIC_ACQUIRE));

		if (free > to->most - to->made)
			free = to->most - to->made;
		if (!free)
			sched_yield();
		else
			make(to, free);
	}
	waker_free(waker);
	return NULL;
}

static json_t *long_list(void)
{
	json_t *list = json_array();

	for (int i = 0; i < 20000; i++)
		json_array_append_new(
		    list, json_pack("{s:i, s:[f, b, n], s:{}, s:[], s:{s:[[[i]]]}}", "a \"key\"", i,
				    "some", i / 8.0, i % 2, "empty", "none", "deep", "er", i));
	return json_pack("{s:o, s:s}", "list", list, "end", "\xc3\xa9\n");
}

static enum MHD_Result handle(void *cls, struct MHD_Connection *connection, const char *url,
			      const char *method, const char *version, const char *data, size_t *n,
			      void **state)
{
	struct answer answer = {.status = 200, .type = "application/octet-stream"};

	(void)method, (void)version, (void)data, (void)n;
	if (!*state) {
		*state = &maker;
		return MHD_YES;
	}
	if (!strcmp(url, "/long"))
		answer.json = long_list();
	else if (!strcmp(url, "/short"))
		answer.json = json_pack("{s:[i]}", "a", 1);
	else
		answer.stream = (struct answer_stream){.read = maker_read,
						       .stop = maker.waits ? maker_stop : NULL,
						       .close = maker_close,
						       .state = &maker,
						       .waker = maker.waker};
	return answer_send(cls, connection, &answer) ? MHD_YES : MHD_NO;
}

static struct control *server_open(uint64_t most)
{
	struct control *control = memory_new(1, sizeof(*control));
	struct epoll_event event = {.events = EPOLLIN};

	maker = (struct maker){.most = most, .waker = waker_new()};
	control->daemon =
	    MHD_start_daemon(MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_NO_LISTEN_SOCKET, 0,
			     NULL, NULL, handle, control, MHD_OPTION_END);
	control->events = events_new(NULL);
	control->poll = epoll_create1(EPOLL_CLOEXEC);
	CU_ASSERT_FATAL(maker.waker && control->daemon && control->poll >= 0);
	epoll_ctl(control->poll, EPOLL_CTL_ADD,
		  MHD_get_daemon_info(control->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd, &event);
	return control;
}

// A client that has sent a request.
static int client_open(struct control *control, const char *request)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fds[2];

	CU_ASSERT_FATAL(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds));
	CU_ASSERT_EQUAL(MHD_add_connection(control->daemon, fds[1], (struct sockaddr *)&address,
					   sizeof(address)),
			MHD_YES);
	CU_ASSERT_EQUAL(write(fds[0], request, strlen(request)), (ssize_t)strlen(request));
	return fds[0];
}

// Serves until it is so; false after WAIT_SECONDS.
static bool serve_until(struct control *control, bool (*so)(void *), void *what)
{
	time_t end = time(NULL) + WAIT_SECONDS;

	while (!so(what)) {
		struct pollfd event = {.fd = control->poll, .events = POLLIN};

		if (time(NULL) > end)
			return false;
		poll(&event, 1, 1);
		control_tick(control);
	}
	return true;
}

// What a client has got, as it came.
struct got {
	int fd;
	char *text;
	size_t n;
	bool ended;
};

static bool got_all(void *state)
{
	struct got *got = state;
	ssize_t n;

	do {
		got->text = realloc(got->text, got->n + RING_BYTES + 1);
		n = read(got->fd, got->text + got->n, RING_BYTES);
		got->n += n > 0 ? (size_t)n : 0;
		got->text[got->n] = '\0';
	} while (n > 0);
	got->ended |= !n;
	return got->ended;
}

static bool got_answer(void *state)
{
	got_all(state);
	return ((struct got *)state)->n > 0;
}

static bool closed(void *unused)
{
	(void)unused;
	return __atomic_load_n(&maker.closed, __ATOMIC_ACQUIRE);
}

static bool suspended(void *control)
{
	return ((struct control *)control)->streams && maker.made == maker.taken &&
	       !((struct control *)control)->moved;
}

#define ASK(PATH) "GET " PATH " HTTP/1.0\r\nHost: x\r\n\r\n"

static const char *body(const struct got *got)
{
	const char *at = strstr(got->text, "\r\n\r\n");

	return at ? at + 4 : "";
}

static void another_thread_makes_bytes(void)
{
	struct control *control = server_open(32u << 20);
	struct got got = {.fd = client_open(control, ASK("/bytes"))};
	pthread_t thread;
	size_t head, wrong = 0;

	CU_ASSERT_FATAL(!pthread_create(&thread, NULL, make_all, &maker));
	CU_ASSERT_TRUE(serve_until(control, got_all, &got));
	head = (size_t)(body(&got) - got.text);
	CU_ASSERT_EQUAL(got.n - head, maker.most);
	for (uint64_t i = 0; i < got.n - head; i++)
		wrong += (uint8_t)got.text[head + i] != byte_at(i);
	CU_ASSERT_EQUAL(wrong, 0);
	CU_ASSERT_TRUE(serve_until(control, closed, NULL));
	pthread_join(thread, NULL);
	CU_ASSERT_PTR_NULL(control->streams);
	CU_ASSERT_EQUAL(control->n_waiting, 0);
	close(got.fd);
	free(got.text);
	control_close(control);
}

static void a_stream_without_bytes_waits(void)
{
	struct control *control = server_open(10);
	struct got got = {.fd = client_open(control, ASK("/bytes"))};

	CU_ASSERT_TRUE(serve_until(control, suspended, control));
	make(&maker, 4);
	CU_ASSERT_TRUE(serve_until(control, got_answer, &got));
	CU_ASSERT_FALSE(closed(NULL));
	make(&maker, 6);
	CU_ASSERT_TRUE(serve_until(control, got_all, &got));
	CU_ASSERT_EQUAL(got.n - (size_t)(body(&got) - got.text), 10);
	CU_ASSERT_TRUE(closed(NULL));
	close(got.fd);
	free(got.text);
	control_close(control);
}

static void who_waits_is_seen_to_leave(void)
{
	struct control *control = server_open(10);
	int fd = client_open(control, ASK("/bytes"));

	CU_ASSERT_TRUE(serve_until(control, suspended, control));
	CU_ASSERT_FALSE(closed(NULL));
	close(fd);
	CU_ASSERT_TRUE(serve_until(control, closed, NULL));
	control_close(control);
}

static void who_does_not_read_is_seen_to_leave(void)
{
	struct control *control = server_open(UINT64_MAX);
	int fd = client_open(control, ASK("/bytes"));
	pthread_t thread;
	uint64_t before = UINT64_MAX;

	CU_ASSERT_FATAL(!pthread_create(&thread, NULL, make_all, &maker));
	// Until the socket is full: then nothing more is taken, and nothing is kept.
	for (int same = 0; same < 50; same++) {
		uint64_t taken = __atomic_load_n(&maker.taken, __ATOMIC_ACQUIRE);

		same = taken == before && taken ? same : 0;
		before = taken;
		control_tick(control);
	}
	CU_ASSERT_FALSE(closed(NULL));
	close(fd);
	CU_ASSERT_TRUE(serve_until(control, closed, NULL));
	pthread_join(thread, NULL);
	control_close(control);
}

static void the_end_of_the_server_ends_streams(void)
{
	for (int waits = 0; waits < 2; waits++) {
		struct control *control = server_open(1000);
		struct got got = {.fd = client_open(control, ASK("/bytes"))};

		maker.waits = waits;
		make(&maker, 100);
		CU_ASSERT_TRUE(serve_until(control, got_answer, &got));
		CU_ASSERT_TRUE(serve_until(control, suspended, control));
		if (waits) // what is left when stop() is called goes out
			maker.made += 7;
		control_close(control);
		CU_ASSERT_TRUE(closed(NULL));
		CU_ASSERT_TRUE(got_all(&got));
		CU_ASSERT_EQUAL(got.n - (size_t)(body(&got) - got.text), waits ? 107 : 100);
		close(got.fd);
		free(got.text);
	}
}

static void json_is_whole(const char *request, bool with_length)
{
	struct control *control = server_open(0);
	struct got got = {.fd = client_open(control, request)};
	json_t *wanted = with_length ? json_pack("{s:[i]}", "a", 1) : long_list(), *json;

	CU_ASSERT_TRUE(serve_until(control, got_all, &got));
	json = json_loads(body(&got), 0, NULL);
	CU_ASSERT_TRUE(json_equal(json, wanted));
	CU_ASSERT_EQUAL(got.text[got.n - 1], '\n');
	CU_ASSERT_EQUAL(strstr(got.text, "Content-Length") != NULL, with_length);
	json_decref(json);
	json_decref(wanted);
	waker_free(maker.waker);
	close(got.fd);
	free(got.text);
	control_close(control);
}

static void json_is_written_as_it_is(void)
{
	json_is_whole(ASK("/long"), false);
	json_is_whole(ASK("/short"), true);
}

static void only_so_many_wait(void)
{
	struct control *control = server_open(10);
	struct got got;

	control->n_waiting = 1000;
	got = (struct got){.fd = client_open(control, ASK("/bytes"))};
	CU_ASSERT_TRUE(serve_until(control, got_all, &got));
	CU_ASSERT_PTR_NOT_NULL(strstr(got.text, " 503 "));
	CU_ASSERT_PTR_NOT_NULL(strstr(body(&got), "too many"));
	CU_ASSERT_TRUE(closed(NULL));
	close(got.fd);
	free(got.text);
	control_close(control);
}

static const CU_TestInfo cases[] = {
    {"another thread makes bytes", another_thread_makes_bytes},
    {"a stream without bytes waits", a_stream_without_bytes_waits},
    {"a client of a stream that waits is seen to leave", who_waits_is_seen_to_leave},
    {"a client that does not read is seen to leave", who_does_not_read_is_seen_to_leave},
    {"the end of the server ends streams", the_end_of_the_server_ends_streams},
    {"JSON, long and short", json_is_written_as_it_is},
    {"only so many streams wait", only_so_many_wait},
    CU_TEST_INFO_NULL,
};
SUITE(control_stream, cases)
