// SPDX-License-Identifier: BSD-3-Clause
// Where instances have their sockets: $SLUICE_SOCKETS, else /run/sluice for root, and under
// XDG_RUNTIME_DIR or /tmp for others.

#ifndef SLUICE_CONTROL_INSTANCE_H
#define SLUICE_CONTROL_INSTANCE_H

#include <sys/types.h>

#include "value/errors.h"

#define INSTANCE_NAME_MAX 63 // as GRAPH_NAME_MAX

// The folder of this user's sockets: always the same text.
const char *instance_folder(void);
// Whether nobody else but root can have put a socket there: in /tmp anybody can make a folder.
bool instance_folder_safe(const char *folder);

// The socket of an instance; `path` has room for a socket's (struct sockaddr_un). false: too long.
bool instance_path(const char *name, char *path, size_t size);

// Whether a name may be one: letters, digits, `.`, `_`, `-`, none of them a path.
bool instance_name_valid(const char *name);

struct instance {
	char name[INSTANCE_NAME_MAX + 1];
	char path[108];
	pid_t pid;
};

// Those that answer, by name; the caller frees the list. Sockets of dead processes are passed over.
// Beside the user's own these are root's that the user's groups may use.
unsigned instance_list(struct instance **);

#endif
