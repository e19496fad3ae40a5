// SPDX-License-Identifier: BSD-3-Clause
// Inside core/control: what can be asked, as a table; each row serves the dispatch, the OpenAPI
// document and the reference.

#ifndef SLUICE_CONTROL_ROUTE_H
#define SLUICE_CONTROL_ROUTE_H

#include <sys/types.h>

#include <jansson.h>

#include "control/access.h"
#include "control/control.h"
#include "control/waker.h"
#include "value/value.h"

#define ROUTE_PARTS 2 // of a path that may be anything: {node}, {command}

struct MHD_Connection;
struct MHD_Response;

struct control {
	struct run *run;
	struct MHD_Daemon *daemon;
	struct MHD_Daemon *tcp; // NULL: nobody listens there
	struct access access;	// to it
	int poll;		// an epoll descriptor of all that is waited for
	char name[64];
	char path[108];
	bool stopping; // somebody asked for the run to stop
	bool closing;  // answers that have no end come to theirs
	bool moved;    // a stream has handed out bytes since this was last false
	struct events *events;
	struct traces *traces;	  // those who trace; NULL: nobody has yet
	struct stream *streams;	  // that are being answered
	unsigned n_waiting;	  // of them with a waker
	struct capture *captures; // the newest first
	unsigned n_captures;	  // there have been so many
};

struct request {
	struct control *control;
	struct run *run;
	const char *parts[ROUTE_PARTS]; // as in the row's path, unescaped by the server
	const char *body;		// ends with a NUL that is not counted
	size_t n_body;
	const char *(*query)(const struct request *, const char *name); // NULL: not given
	const char *(*header)(const struct request *, const char *name);
	void *connection;
};

#define STREAM_END (-1)	   // all has been read
#define STREAM_BROKEN (-2) // the client is cut off, so that it can tell that this was not all

// An answer whose bytes come when they come: packets, events. The server calls all three on the
// control thread, and keeps nothing but what it is sending: whoever makes the bytes bounds what
// waits for a client that is slow.
struct answer_stream {
	// Writes up to n bytes, n > 0, and returns how many; or 0: there is nothing yet, and after
	// waker_wake() there may be; or STREAM_END or STREAM_BROKEN. It does not block. NULL: the
	// answer is no stream.
	ssize_t (*read)(void *state, char *to, size_t n);
	// The run ends: read() is asked until it says STREAM_END, for half a second at most. NULL:
	// the stream ends where read() has nothing.
	void (*stop)(void *state);
	// The last call, once, whether all was sent, the client has gone, or nothing was ever read.
	void (*close)(void *state);
	void *state;
	// Says that read() has bytes again, after it had none. The server keeps it as well, so
	// that whoever made it frees it when done. NULL: there are always bytes until the end.
	struct waker *waker;
};

struct answer_header {
	const char *name; // NULL: the end
	const char *value;
};
#define ANSWER_HEADERS_MAX 8

// What is answered: one of json, text, stream and fixed. All but the last are the server's.
struct answer {
	unsigned status;
	json_t *json;
	char *text;	   // from malloc()
	const char *fixed; // bytes that stay where they are as long as the program runs
	size_t n_fixed;
	// Beside the type; with none, nobody may keep the answer.
	struct answer_header headers[ANSWER_HEADERS_MAX];
	struct answer_stream stream;
	const char *type;  // of all but json
	const char *allow; // the methods that the path has; NULL: not said
	char location[32]; // of what the content is of; "": not said
};

struct route {
	const char *method;
	const char *path; // "/nodes/{node}"
	const char *help;
	void (*serve)(const struct request *, struct answer *);
	const char *body;	    // what it takes, in words; NULL: nothing
	const char *const *queries; // names of parameters behind ?, NULL-terminated, or NULL
};

extern const struct route routes[]; // ends with a row without a method

#define ALLOW_BYTES 40 // room for all methods

// The route of a method and path; its parts are written into `path`, which is changed. NULL: none;
// `allow` has the methods that the path has then, "GET, HEAD, PUT", or "".
const struct route *route_find(const char *method, char *path, const char *parts[],
			       char allow[ALLOW_BYTES]);

// Answers with faults: {"errors": [{"file", "line", "column", "message"}]}. Frees the errors.
void answer_errors(struct answer *, unsigned status, struct errors *);
void answer_error(struct answer *, unsigned status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// server.c
void daemons_run(struct control *); // what MHD has to do

// admit.c
#define COOKIE_BYTES (TOKEN_MAX + 100) // with all that is said of it
// Whether a request over TCP may be served; else what is answered instead, with the cookie in it.
bool admit(struct control *, struct MHD_Connection *, const char *url, struct answer *,
	   char cookie[COOKIE_BYTES]);

// routes.c
// Fills a struct after a table from the body, which is JSON and so YAML. NULL after errors.
void *body_fill(struct arena *, const struct request *, const struct param *, const char *what,
		struct errors *);
// The node of that name; NULL: there is none, which is answered.
const struct graph_node *node_find(const struct run *, const char *name, struct answer *);

// answer.c
// Sends an answer, and frees what it is made of. false: the connection is to be closed.
bool answer_send(struct control *, struct MHD_Connection *, struct answer *);

// json_stream.c
// Turns an answer in JSON into one in text where that is short, else into a stream.
void json_stream(struct answer *);

// stream.c
// Whether one more stream that waits can be had.
bool stream_possible(const struct control *);
// What MHD sends for a stream, which becomes the response's. NULL after closing it: there is no
// memory.
struct MHD_Response *stream_response(struct control *, struct MHD_Connection *,
				     const struct answer_stream *);
// Deals with what control->poll has: streams that were woken, clients that have gone.
void streams_tick(struct control *);
// Brings all streams to their end.
void streams_close(struct control *);

// events.c
// Tells all who listen to events, by any thread. What becomes the event's; the name stays.
void event_raise(struct control *, const char *name, json_t *what);
void serve_events(const struct request *, struct answer *);
extern const char *const events_queries[];
struct events *events_new(struct run *);
void events_free(struct events *);
void events_tick(struct events *);
uint64_t events_wait_ns(const struct events *); // until the next that time brings

// Chooses the name and path of an instance and listens there. The socket, or -1 after an error.
int control_listen(struct control *, const struct control_options *, struct errors *);

// The document that describes all routes.
json_t *openapi(void);

// routes.c
// What the path names first; NULL after answering that there is none, and which may be meant.
const struct graph_node *node_part(const struct request *, struct answer *);
const struct graph_port *port_part(const struct request *, struct answer *);

// capture_routes.c
extern const char *const capture_queries[];

// metrics.c
void serve_metrics(const struct request *, struct answer *);
// describe.c
void describe_node(const struct request *, unsigned index, json_t *object);
// page.c
void serve_page(const struct request *, struct answer *);
bool page_wanted(const struct request *); // rather than JSON
// change.c
void serve_graph(const struct request *, struct answer *);
void serve_change(const struct request *, struct answer *);

#endif
