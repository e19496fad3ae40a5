// SPDX-License-Identifier: BSD-3-Clause
// Answers that go out bit by bit. One that has nothing to send is suspended: MHD forgets its socket
// until it is woken, and whether the client is still there is watched here.

#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <microhttpd.h>

#include "control/route.h"

#define BLOCK_BYTES (64u << 10)
#define WAITING_MAX 32 // streams that may have nothing to send: half of all connections
#define STOP_MS 500    // that streams have for their last bytes

// What control->poll knows of a stream: its waker, or while it is suspended its socket.
struct watch {
	struct stream *stream;
	bool socket;
};

struct stream {
	struct control *control;
	struct MHD_Connection *connection;
	struct answer_stream from;
	struct watch waker, client;
	int socket;
	bool suspended;
	bool gone; // the client is
	struct stream *next, **back;
};

static void stream_suspend(struct stream *stream)
{
	// Of a client at the same machine the end of what it sends says nothing; over TCP the end
	// of both directions looks just the same.
	struct sockaddr address = {.sa_family = AF_UNSPEC};
	socklen_t length = sizeof(address);
	struct epoll_event event = {.data.ptr = &stream->client};

	getsockname(stream->socket, &address, &length);
	if (address.sa_family != AF_UNIX)
		event.events = EPOLLRDHUP;
	MHD_suspend_connection(stream->connection);
	stream->suspended = true;
	epoll_ctl(stream->control->poll, EPOLL_CTL_ADD, stream->socket, &event);
}

static void stream_resume(struct stream *stream)
{
	if (!stream->suspended)
		return;
	epoll_ctl(stream->control->poll, EPOLL_CTL_DEL, stream->socket, NULL);
	stream->suspended = false;
	MHD_resume_connection(stream->connection);
}

static ssize_t stream_read(void *cls, uint64_t at, char *to, size_t n)
{
	struct stream *stream = cls;
	const struct answer_stream *from = &stream->from;
	ssize_t got;

	(void)at;
	if (stream->gone)
		return MHD_CONTENT_READER_END_WITH_ERROR;
	if (from->waker)
		waker_look(from->waker);
	got = from->read(from->state, to, n);
	if (got > 0) {
		stream->control->moved = true;
		return got;
	}
	if (got == STREAM_END)
		return MHD_CONTENT_READER_END_OF_STREAM;
	if (got < 0)
		return MHD_CONTENT_READER_END_WITH_ERROR;
	if (!from->waker || (stream->control->closing && !from->stop))
		return MHD_CONTENT_READER_END_OF_STREAM;
	stream_suspend(stream);
	return 0;
}

static void stream_free(void *cls)
{
	struct stream *stream = cls;

	*stream->back = stream->next;
	if (stream->next)
		stream->next->back = stream->back;
	if (stream->from.waker) {
		epoll_ctl(stream->control->poll, EPOLL_CTL_DEL, waker_event(stream->from.waker),
			  NULL);
		waker_free(stream->from.waker);
		stream->control->n_waiting--;
	}
	stream->from.close(stream->from.state);
	free(stream);
}

static void stream_watch(struct stream *stream)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = &stream->waker};

	// A client that takes nothing for long may be a reader who has stopped to think.
	MHD_set_connection_option(stream->connection, MHD_CONNECTION_OPTION_TIMEOUT, 0u);
	waker_keep(stream->from.waker);
	epoll_ctl(stream->control->poll, EPOLL_CTL_ADD, waker_event(stream->from.waker), &event);
	stream->control->n_waiting++;
}

bool stream_possible(const struct control *control)
{
	return control->n_waiting < WAITING_MAX && !control->closing;
}

struct MHD_Response *stream_response(struct control *control, struct MHD_Connection *connection,
				     const struct answer_stream *from)
{
	const union MHD_ConnectionInfo *info =
	    MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct stream *stream;
	struct MHD_Response *response;

	if (!info) {
		from->close(from->state);
		return NULL;
	}
	stream = memory_new(1, sizeof(*stream));
	*stream = (struct stream){.control = control,
				  .connection = connection,
				  .from = *from,
				  .socket = info->connect_fd,
				  .next = control->streams,
				  .back = &control->streams};
	stream->waker = (struct watch){stream, false};
	stream->client = (struct watch){stream, true};
	if (stream->next)
		stream->next->back = &stream->next;
	control->streams = stream;
	if (from->waker)
		stream_watch(stream);
	response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK_BYTES, stream_read,
						     stream, stream_free);
	if (!response)
		stream_free(stream);
	return response;
}

static void poll_once(struct control *control, int ms)
{
	struct epoll_event events[64];
	int n = epoll_wait(control->poll, events, 64, ms);

	// Resuming frees nothing: streams go in MHD_run().
	for (int i = 0; i < n; i++) {
		struct watch *watch = events[i].data.ptr;

		if (!watch)
			continue;
		if (watch->socket)
			watch->stream->gone = true;
		else
			waker_drain(watch->stream->from.waker);
		stream_resume(watch->stream);
	}
}

void streams_tick(struct control *control)
{
	poll_once(control, 0);
}

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void streams_close(struct control *control)
{
	int64_t end = now_ms() + STOP_MS, left;

	control->closing = true;
	for (struct stream *stream = control->streams; stream; stream = stream->next) {
		if (stream->from.stop)
			stream->from.stop(stream->from.state);
		stream_resume(stream);
	}
	daemons_run(control);
	while (control->streams && (left = end - now_ms()) > 0) {
		poll_once(control, left < 10 ? (int)left : 10);
		daemons_run(control);
	}
	for (struct stream *stream = control->streams; stream; stream = stream->next) {
		stream->gone = true;
		stream_resume(stream);
	}
	daemons_run(control);
}
