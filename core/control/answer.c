// SPDX-License-Identifier: BSD-3-Clause
// Answers: faults in JSON, and how each form is sent.

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <microhttpd.h>

#include "control/route.h"
#include "value/errors_json.h"

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

static struct MHD_Response *response_make(struct control *control,
					  struct MHD_Connection *connection,
					  const struct answer *answer)
{
	struct MHD_Response *response;

	if (answer->stream.read)
		return stream_response(control, connection, &answer->stream);
	if (answer->fixed)
		return MHD_create_response_from_buffer(
		    answer->n_fixed, (void *)(uintptr_t)answer->fixed, MHD_RESPMEM_PERSISTENT);
	if (!answer->text)
		return NULL;
	response = MHD_create_response_from_buffer(strlen(answer->text), answer->text,
						   MHD_RESPMEM_MUST_FREE);
	if (!response)
		free(answer->text);
	return response;
}

// A stream that waits takes a place, of which there are so many.
static void stream_refuse(struct answer *answer)
{
	answer->stream.close(answer->stream.state);
	answer->stream.read = NULL;
	answer_error(answer, MHD_HTTP_SERVICE_UNAVAILABLE,
		     "too many captures, traces and listeners to events are served already");
}

static void headers_add(struct MHD_Response *response, const struct answer_header *headers)
{
	if (!headers->name)
		MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
	for (; headers->name; headers++)
		MHD_add_response_header(response, headers->name, headers->value);
}

bool answer_send(struct control *control, struct MHD_Connection *connection, struct answer *answer)
{
	struct MHD_Response *response;
	enum MHD_Result result;

	if (answer->stream.read && answer->stream.waker && !stream_possible(control))
		stream_refuse(answer);
	if (answer->json)
		json_stream(answer);
	response = response_make(control, connection, answer);
	if (!response)
		return false;
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, answer->type);
	headers_add(response, answer->headers);
	// No time is set to a client of a stream that waits, so its connection serves nothing else.
	if (answer->stream.read && answer->stream.waker)
		MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
	if (*answer->location)
		MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_LOCATION,
					answer->location);
	if (answer->allow)
		MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, answer->allow);
	result = MHD_queue_response(connection, answer->status, response);
	MHD_destroy_response(response);
	return result == MHD_YES;
}
