// SPDX-License-Identifier: BSD-3-Clause
// Unix sockets that this process will serve: what a dead process left behind is removed, what a
// live one serves is left alone.

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <rte_string_fns.h>

#include "driver.h"
#include "port/socket.h"

enum socket_owner socket_probe(const char *path, pid_t *pid)
{
	// Both kinds that DPDK's ports use: a wrong kind is answered with EPROTOTYPE, which means
	// that somebody listens.
	static const int kinds[] = {SOCK_STREAM, SOCK_SEQPACKET};
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct stat info;

	if (strlen(path) >= sizeof(address.sun_path))
		return SOCKET_TOO_LONG;
	rte_strscpy(address.sun_path, path, sizeof(address.sun_path));
	if (lstat(path, &info))
		return errno == ENOENT ? SOCKET_ABSENT : SOCKET_UNREACHABLE;
	if (!S_ISSOCK(info.st_mode))
		return SOCKET_OTHER_FILE;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		int fd = socket(AF_UNIX, kinds[i] | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		struct ucred peer = {0};
		socklen_t size = sizeof(peer);
		int result;

		if (fd < 0)
			return SOCKET_UNREACHABLE;
		result = connect(fd, (struct sockaddr *)&address, sizeof(address)) ? errno : 0;
		if (!result && !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size))
			*pid = peer.pid;
		close(fd);
		if (!result || result == EAGAIN)
			return SOCKET_LIVE;
		if (result == ENOENT)
			return SOCKET_ABSENT;
		if (result == EACCES || result == EPERM)
			return SOCKET_UNREACHABLE;
		if (result == ECONNREFUSED)
			return SOCKET_STALE;
	}
	return SOCKET_LIVE;
}

static int socket_check_folder(const char *path, struct errors *errors)
{
	char copy[sizeof(((struct sockaddr_un *)0)->sun_path)];
	const char *folder;

	rte_strscpy(copy, path, sizeof(copy));
	folder = dirname(copy);
	if (access(folder, F_OK)) {
		error_machine(errors, NULL,
			      "the folder %s of the socket %s does not exist, create it", folder,
			      path);
		return -1;
	}
	if (access(folder, W_OK | X_OK)) {
		error_machine(errors, NULL,
			      "no permission to create the socket %s, choose a folder that this "
			      "user may write to",
			      path);
		return -1;
	}
	return 0;
}

static void socket_live(const char *path, pid_t pid, struct errors *errors)
{
	char who[48] = "another process";

	if (pid == getpid())
		strcpy(who, "another port of this process");
	else if (pid)
		snprintf(who, sizeof(who), "process %d", (int)pid);
	error_machine(errors, NULL,
		      "the socket %s is served by %s, stop that or choose another path", path, who);
}

int socket_claim(const struct port *port, const char *path, struct errors *errors)
{
	pid_t pid = 0;
	enum socket_owner owner;

	if (!path[0]) {
		error_input(errors, NULL, "the path of a socket must not be empty");
		return -1;
	}
	owner = socket_probe(path, &pid);
	if (owner == SOCKET_TOO_LONG) {
		error_input(errors, NULL,
			    "the socket's path has %zu characters, at most %zu are possible",
			    strlen(path), sizeof(((struct sockaddr_un *)0)->sun_path) - 1);
		return -1;
	}
	if (socket_check_folder(path, errors))
		return -1;
	switch (owner) {
	case SOCKET_LIVE:
		socket_live(path, pid, errors);
		return -1;
	case SOCKET_OTHER_FILE:
		error_machine(errors, NULL,
			      "%s is in the way of a socket and is no socket, choose "
			      "another path or remove it",
			      path);
		return -1;
	case SOCKET_UNREACHABLE:
		error_machine(errors, NULL,
			      "the socket %s exists and this user may not connect to it, choose "
			      "another path or remove it",
			      path);
		return -1;
	case SOCKET_STALE:
		if (unlink(path) && errno != ENOENT) {
			error_machine(
			    errors, NULL,
			    "the socket %s was left by a process that is gone, and cannot "
			    "be removed: %s",
			    path, strerror(errno));
			return -1;
		}
		port_note((struct port *)port,
			  "removed %s, which a process that is gone left behind", path);
		return 0;
	case SOCKET_ABSENT:
	case SOCKET_TOO_LONG:
		break;
	}
	return 0;
}
