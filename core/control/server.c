// SPDX-License-Identifier: BSD-3-Clause
// The server: libmicrohttpd without threads on the socket of listen.c, one exchange a request.

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <microhttpd.h>

#include "control/route.h"
#include "value/errors_json.h"

#define BODY_MAX (16u << 20) // as a graph file
#define CONNECTIONS_MAX 64
#define IDLE_SECONDS 10 // a client that sends and takes nothing for so long is let go

// One request while its body comes in.
struct exchange {
	char *body;
	size_t n;
	size_t n_over; // bytes of it that were too many, and are gone
};

void answer_errors(struct answer *answer, unsigned status, struct errors *errors)
{
	answer->status = status;
	answer->json = json_pack("{s:o}", "errors", errors_json(errors));
	errors_free(errors);
}

void answer_error(struct answer *answer, unsigned status, const char *format, ...)
{
	char *text;
	va_list args;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	// JSON is UTF-8, a path need not be.
	for (char *at = text; at && *at; at++)
		if ((unsigned char)*at >= 0x80)
			*at = '?';
	answer->status = status;
	answer->json =
	    json_pack("{s:[{s:s}]}", "errors", "message", text ? text : "there is no memory");
	free(text);
}

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

static enum MHD_Result answer_send(struct MHD_Connection *connection, struct answer *answer)
{
	char *text = answer->text;
	struct MHD_Response *response;
	enum MHD_Result result;
	size_t n;

	if (answer->json) {
		char *dump = json_dumps(answer->json, JSON_COMPACT | JSON_REAL_PRECISION(12));

		json_decref(answer->json);
		if (!dump || asprintf(&text, "%s\n", dump) < 0)
			text = NULL;
		free(dump);
		answer->type = "application/json";
	}
	if (!text)
		return MHD_NO;
	n = strlen(text);
	response = MHD_create_response_from_buffer(n, text, MHD_RESPMEM_MUST_FREE);
	if (!response) {
		free(text);
		return MHD_NO;
	}
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, answer->type);
	MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
	result = MHD_queue_response(connection, answer->status, response);
	MHD_destroy_response(response);
	return result;
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

static void serve(struct control *control, struct MHD_Connection *connection, const char *url,
		  const char *method, const struct exchange *exchange, struct answer *answer)
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
	bool other = false;

	if (!path) {
		answer_error(answer, MHD_HTTP_INTERNAL_SERVER_ERROR, "there is no memory");
		return;
	}
	route =
	    route_find(strcmp(method, "HEAD") != 0 ? method : "GET", path, request.parts, &other);
	if (exchange->n_over)
		answer_too_long(answer);
	else if (route)
		route->serve(&request, answer);
	else if (other)
		answer_error(answer, MHD_HTTP_METHOD_NOT_ALLOWED, "%s is not done with %s", method,
			     url);
	else
		answer_error(answer, MHD_HTTP_NOT_FOUND,
			     "there is nothing at %s; GET /openapi.json says what there is", url);
	free(path);
}

static enum MHD_Result handle(void *cls, struct MHD_Connection *connection, const char *url,
			      const char *method, const char *version, const char *data, size_t *n,
			      void **state)
{
	struct answer answer = {.status = MHD_HTTP_OK, .type = "text/plain; charset=utf-8"};
	struct exchange *exchange = *state;

	(void)version;
	if (!exchange) {
		*state = calloc(1, sizeof(*exchange));
		if (!*state)
			return MHD_NO;
		if (!body_announced_too_long(connection))
			return MHD_YES;
		answer_too_long(&answer);
		return answer_send(connection, &answer);
	}
	if (*n) {
		if (!body_add(exchange, data, *n))
			return MHD_NO;
		*n = 0;
		return MHD_YES;
	}
	serve(cls, connection, url, method, exchange, &answer);
	return answer_send(connection, &answer);
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
	control->daemon = MHD_start_daemon(
	    MHD_USE_EPOLL | MHD_USE_ERROR_LOG, 0, NULL, NULL, handle, control,
	    MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_NOTIFY_COMPLETED, exchange_end, NULL,
	    MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS_MAX, MHD_OPTION_CONNECTION_TIMEOUT,
	    IDLE_SECONDS, MHD_OPTION_EXTERNAL_LOGGER, log_nothing, NULL, MHD_OPTION_END);
	if (control->daemon)
		return control;
	error_machine(errors, NULL, "cannot serve %s", control->path);
	close(fd);
	unlink(control->path);
	free(control);
	return NULL;
}

void control_close(struct control *control)
{
	if (!control)
		return;
	// What was asked before the end is answered.
	MHD_run(control->daemon);
	unlink(control->path);
	MHD_stop_daemon(control->daemon);
	free(control);
}

void control_tick(struct control *control)
{
	MHD_run(control->daemon);
}

bool control_stopping(const struct control *control)
{
	return control->stopping;
}
