// SPDX-License-Identifier: BSD-3-Clause
// Inside core/control: what can be asked, as a table; each row serves the dispatch, the OpenAPI
// document and the reference.

#ifndef SLUICE_CONTROL_ROUTE_H
#define SLUICE_CONTROL_ROUTE_H

#include <jansson.h>

#include "control/control.h"
#include "value/value.h"

#define ROUTE_PARTS 2 // of a path that may be anything: {node}, {command}

struct control {
	struct run *run;
	struct MHD_Daemon *daemon;
	char name[64];
	char path[108];
	bool stopping;
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

// What is answered. One of json and text is set; both are the server's.
struct answer {
	unsigned status;
	json_t *json;
	char *text; // from malloc()
	const char *type;
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

// The route of a method and path; its parts are written into `path`, which is changed. NULL: none;
// *allowed then says whether another method has the path.
const struct route *route_find(const char *method, char *path, const char *parts[],
			       bool *other_method);

// Answers with faults: {"errors": [{"file", "line", "column", "message"}]}. Frees the errors.
void answer_errors(struct answer *, unsigned status, struct errors *);
void answer_error(struct answer *, unsigned status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// Chooses the name and path of an instance and listens there. The socket, or -1 after an error.
int control_listen(struct control *, const struct control_options *, struct errors *);

// The document that describes all routes.
json_t *openapi(void);

// metrics.c
void serve_metrics(const struct request *, struct answer *);
// change.c
void serve_graph(const struct request *, struct answer *);
void serve_change(const struct request *, struct answer *);

#endif
