// SPDX-License-Identifier: BSD-3-Clause
// The server: libmicrohttpd without threads on the socket of listen.c, one exchange a request.

#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <microhttpd.h>

#include "control/capture.h"
#include "control/trace.h"
#include "run/clock.h"
#include "value/log.h"

#define BODY_MAX (16u << 20) // as a graph file
#define CONNECTIONS_MAX 64
#define IDLE_SECONDS 10 // a client that sends and takes nothing for so long is let go
// Of a connection, for what comes in and goes out: the parts of a stream are half as large.
#define CONNECTION_BYTES (256u << 10)
#define TURN_NS 2000000 // that streams which go on and on are served in one turn

// One request while its body comes in.
struct exchange {
	char *body;
	size_t n;
	size_t n_over; // bytes of it that were too many, and are gone
};

static const char *query_value(const struct request *request, const char *name)
{
	return MHD_lookup_connection_value(request->connection, MHD_GET_ARGUMENT_KIND, name);
}

static const char *header_value(const struct request *request, const char *name)
{
	return MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, name);
}

static bool body_add(struct exchange *exchange, const char *data, size_t n)
{
	char *body;

	// A client that is told to stop may have sent a part more; one that goes on is cut off.
	if (exchange->n_over || n > BODY_MAX - exchange->n) {
		exchange->n_over += n;
		return exchange->n_over < BODY_MAX;
	}
	body = realloc(exchange->body, exchange->n + n + 1);
	if (!body)
		return false;
	memcpy(body + exchange->n, data, n);
	exchange->n += n;
	body[exchange->n] = '\0';
	exchange->body = body;
	return true;
}

static void answer_too_long(struct answer *answer)
{
	answer_error(answer, MHD_HTTP_CONTENT_TOO_LARGE,
		     "the body is longer than %u MiB, which no graph may be", BODY_MAX >> 20);
}

// Whether the client says that it will send more than may be.
static bool body_announced_too_long(struct MHD_Connection *connection)
{
	const char *text = MHD_lookup_connection_value(connection, MHD_HEADER_KIND,
						       MHD_HTTP_HEADER_CONTENT_LENGTH);

	return text && strtoull(text, NULL, 10) > BODY_MAX;
}

// What the table has no row for. OPTIONS asks just that.
static void serve_other(const char *method, const char *url, const char *allow,
			struct answer *answer)
{
	if (!*allow) {
		answer_error(answer, MHD_HTTP_NOT_FOUND,
			     "there is nothing at %s; GET /openapi.json says what there is", url);
		return;
	}
	if (!strcmp(method, MHD_HTTP_METHOD_OPTIONS)) {
		answer->status = MHD_HTTP_NO_CONTENT;
		answer->text = strdup("");
	} else {
		answer_error(answer, MHD_HTTP_METHOD_NOT_ALLOWED, "%s is not done with %s, but %s",
			     url, method, allow);
	}
	answer->allow = allow;
}

static void serve(struct control *control, struct MHD_Connection *connection, const char *url,
		  const char *method, const struct exchange *exchange, struct answer *answer,
		  char allow[ALLOW_BYTES])
{
	struct request request = {.control = control,
				  .run = control->run,
				  .body = exchange->body ? exchange->body : "",
				  .n_body = exchange->n,
				  .query = query_value,
				  .header = header_value,
				  .connection = connection};
	char *path = strdup(url);
	const struct route *route;

	if (!path) {
		answer_error(answer, MHD_HTTP_INTERNAL_SERVER_ERROR, "there is no memory");
		return;
	}
	route =
	    route_find(strcmp(method, "HEAD") != 0 ? method : "GET", path, request.parts, allow);
	if (exchange->n_over)
		answer_too_long(answer);
	else if (route)
		route->serve(&request, answer);
	else
		serve_other(method, url, allow, answer);
	free(path);
}

static enum MHD_Result handle(void *cls, struct MHD_Connection *connection, const char *url,
			      const char *method, const char *version, const char *data, size_t *n,
			      void **state)
{
	struct answer answer = {.status = MHD_HTTP_OK, .type = "text/plain; charset=utf-8"};
	struct exchange *exchange = *state;
	struct control *control = cls;
	char allow[ALLOW_BYTES] = "";

	(void)version;
	if (!exchange) {
		*state = calloc(1, sizeof(*exchange));
		if (!*state)
			return MHD_NO;
		if (!body_announced_too_long(connection))
			return MHD_YES;
		answer_too_long(&answer);
		return answer_send(control, connection, &answer) ? MHD_YES : MHD_NO;
	}
	if (*n) {
		if (!body_add(exchange, data, *n))
			return MHD_NO;
		*n = 0;
		return MHD_YES;
	}
	serve(control, connection, url, method, exchange, &answer, allow);
	return answer_send(control, connection, &answer) ? MHD_YES : MHD_NO;
}

static enum MHD_Result handle_tcp(void *cls, struct MHD_Connection *connection, const char *url,
				  const char *method, const char *version, const char *data,
				  size_t *n, void **state)
{
	struct answer answer = {.type = "text/plain; charset=utf-8"};
	struct control *control = cls;
	char cookie[COOKIE_BYTES];

	if (*state || admit(control, connection, url, &answer, cookie))
		return handle(cls, connection, url, method, version, data, n, state);
	return answer_send(control, connection, &answer) ? MHD_YES : MHD_NO;
}

static void exchange_end(void *cls, struct MHD_Connection *connection, void **state,
			 enum MHD_RequestTerminationCode why)
{
	struct exchange *exchange = *state;

	(void)cls;
	(void)connection;
	(void)why;
	if (exchange)
		free(exchange->body);
	free(exchange);
	*state = NULL;
}

static void log_nothing(void *cls, const char *format, va_list args)
{
	(void)cls;
	(void)format;
	(void)args;
}

static struct MHD_Daemon *daemon_start(struct control *control, int fd,
				       MHD_AccessHandlerCallback handler)
{
	return MHD_start_daemon(
	    MHD_USE_EPOLL | MHD_USE_ERROR_LOG | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, handler,
	    control, MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_NOTIFY_COMPLETED, exchange_end, NULL,
	    MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS_MAX, MHD_OPTION_CONNECTION_TIMEOUT,
	    IDLE_SECONDS, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES,
	    MHD_OPTION_EXTERNAL_LOGGER, log_nothing, NULL, MHD_OPTION_END);
}

// MHD has a descriptor that tells of its sockets; it goes into the one that tells of all.
static int poll_add(struct control *control, struct MHD_Daemon *daemon)
{
	const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD);
	struct epoll_event event = {.events = EPOLLIN};

	return info ? epoll_ctl(control->poll, EPOLL_CTL_ADD, info->epoll_fd, &event) : -1;
}

// What is listened to is the daemon's, or closed.
static struct MHD_Daemon *serve_on(struct control *control, int fd,
				   MHD_AccessHandlerCallback handler, const char *where,
				   struct errors *errors)
{
	struct MHD_Daemon *daemon = daemon_start(control, fd, handler);

	if (daemon && !poll_add(control, daemon))
		return daemon;
	error_machine(errors, NULL, "cannot serve %s", where);
	if (daemon)
		MHD_stop_daemon(daemon);
	else
		close(fd);
	return NULL;
}

static int tcp_open(struct control *control, const struct control_options *options,
		    struct errors *errors)
{
	char made[sizeof(control->access.file)];
	int fd;

	if (!options->listen)
		return 0;
	// NAME.token beside NAME.sock.
	snprintf(made, sizeof(made), "%.*s.token",
		 (int)(strrchr(control->path, '.') - control->path), control->path);
	fd = access_listen(&control->access, options->listen, options->token_file, made, errors);
	if (fd < 0)
		return -1;
	control->tcp = serve_on(control, fd, handle_tcp, options->listen, errors);
	if (!control->tcp)
		return -1;
	log_say(LOG_LEVEL_NOTE, NULL, "serves %s, with the token in %s", control->access.url,
		options->token_file ? options->token_file : control->access.file);
	return 0;
}

static void control_free(struct control *control)
{
	if (*control->path)
		unlink(control->path);
	if (control->tcp)
		MHD_stop_daemon(control->tcp);
	access_close(&control->access);
	if (control->daemon)
		MHD_stop_daemon(control->daemon);
	// Only now the last stream is closed: a client that reads nothing keeps its own until here.
	traces_close(control);
	captures_tick(control);
	events_free(control->events);
	if (control->poll >= 0)
		close(control->poll);
	free(control);
}

struct control *control_open(struct run *run, const struct control_options *options,
			     struct errors *errors)
{
	struct control *control = memory_new(1, sizeof(*control));
	int fd;

	control->run = run;
	fd = control_listen(control, options, errors);
	if (fd < 0) {
		free(control);
		return NULL;
	}
	control->events = events_new(run);
	control->poll = epoll_create1(EPOLL_CLOEXEC);
	control->daemon = serve_on(control, fd, handle, control->path, errors);
	if (control->daemon && !tcp_open(control, options, errors))
		return control;
	control_free(control);
	return NULL;
}

const char *control_name(const struct control *control)
{
	return control->name;
}

void control_close(struct control *control)
{
	if (!control)
		return;
	// What was asked before the end is answered.
	daemons_run(control);
	streams_close(control);
	control_free(control);
}

void daemons_run(struct control *control)
{
	MHD_run(control->daemon);
	if (control->tcp)
		MHD_run(control->tcp);
}

void control_tick(struct control *control)
{
	uint64_t start = monotonic_ns();

	events_tick(control->events);
	do {
		control->moved = false;
		traces_tick(control);
		streams_tick(control);
		daemons_run(control);
	} while (control->moved && monotonic_ns() - start < TURN_NS);
	captures_tick(control);
}

int control_poll(const struct control *control)
{
	return control->poll;
}

uint64_t control_wait_ns(const struct control *control)
{
	uint64_t wait = RTE_MIN(events_wait_ns(control->events), traces_wait_ns(control));
	unsigned long long ms;

	if (MHD_get_timeout(control->daemon, &ms) == MHD_YES && ms < wait / 1000000)
		wait = ms * 1000000;
	if (control->tcp && MHD_get_timeout(control->tcp, &ms) == MHD_YES && ms < wait / 1000000)
		wait = ms * 1000000;
	return wait;
}

bool control_stopping(const struct control *control)
{
	return control->stopping;
}
