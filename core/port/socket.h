// SPDX-License-Identifier: BSD-3-Clause
// Who serves a Unix socket, found by connecting to it.

#ifndef SLUICE_PORT_SOCKET_H
#define SLUICE_PORT_SOCKET_H

#include <sys/types.h>

enum socket_owner {
	SOCKET_ABSENT,	    // no such file
	SOCKET_STALE,	    // a socket that nobody answers
	SOCKET_LIVE,	    // somebody listens
	SOCKET_OTHER_FILE,  // no socket
	SOCKET_UNREACHABLE, // not ours to connect to
	SOCKET_TOO_LONG,    // longer than an address can be
};

// *pid: of the process that listens, where it can be known; else as it was.
enum socket_owner socket_probe(const char *path, pid_t *pid);

#endif
