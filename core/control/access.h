// SPDX-License-Identifier: BSD-3-Clause
// Who may ask over TCP: those who know a token, and no page of another site.

#ifndef SLUICE_CONTROL_ACCESS_H
#define SLUICE_CONTROL_ACCESS_H

#include <stdbool.h>
#include <sys/socket.h>

#include "value/errors.h"

#define TOKEN_MAX 256
#define COOKIE_MAX 32

struct access {
	char token[TOKEN_MAX + 1];
	char file[120]; // that the token was written to, and is removed from; "": it was given
	char host[256]; // that was asked for: 127.0.0.1, ::1, a name
	char url[300];	// "http://127.0.0.1:8080"
	char cookie[COOKIE_MAX]; // its name: cookies are of a host and not of a port
};

// Listens at "HOST:PORT" or "[HOST]:PORT"; port 0: any that is free. The token is that of the file,
// or where it is NULL one made at random and written to `made`, which only the loopback gets by
// with. The socket, or -1 after an error.
int access_listen(struct access *, const char *address, const char *token_file, const char *made,
		  struct errors *);
// Removes the token that was made.
void access_close(struct access *);

bool access_token_is(const struct access *, const char *text);
// The header Host: an address, which no name server answers for, or a name of this machine.
bool access_host_is(const struct access *, const char *host);
// The header Origin of what a page asks: the page must come from here.
bool access_origin_is(const char *origin, const char *host);

#endif
