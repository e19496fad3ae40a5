// SPDX-License-Identifier: BSD-3-Clause
// memif's messages over a Unix socket, and the descriptors that travel with them.

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "memif_wire.h"

socklen_t memif_address(const struct memif *memif, struct sockaddr_un *address)
{
	const char *path = memif->params->path;

	*address = (struct sockaddr_un){.sun_family = AF_UNIX};
	if (!memif->params->abstract) {
		snprintf(address->sun_path, sizeof(address->sun_path), "%s", path);
		return sizeof(*address);
	}
	memcpy(address->sun_path + 1, path, strnlen(path, sizeof(address->sun_path) - 1));
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(path));
}

bool memif_send(struct memif *memif, const struct memif_message *message, int fd)
{
	struct iovec part = {.iov_base = (void *)message, .iov_len = sizeof(*message)};
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(int))];
	} control = {0};
	struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};

	if (fd >= 0) {
		header.msg_control = &control;
		header.msg_controllen = sizeof(control);
		control.header.cmsg_len = CMSG_LEN(sizeof(int));
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		memcpy(CMSG_DATA(&control.header), &fd, sizeof(int));
	}
	return sendmsg(memif->fd, &header, MSG_DONTWAIT | MSG_NOSIGNAL) ==
	       (ssize_t)sizeof(*message);
}

int memif_receive(struct memif *memif, struct memif_message *message, int *fd)
{
	struct iovec part = {.iov_base = message, .iov_len = sizeof(*message)};
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(4 * sizeof(int))];
	} control;
	struct msghdr header = {.msg_iov = &part,
				.msg_iovlen = 1,
				.msg_control = &control,
				.msg_controllen = sizeof(control)};
	ssize_t n = recvmsg(memif->fd, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

	*fd = -1;
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -1;
	for (struct cmsghdr *at = CMSG_FIRSTHDR(&header); at; at = CMSG_NXTHDR(&header, at)) {
		unsigned fds = (unsigned)((at->cmsg_len - CMSG_LEN(0)) / sizeof(int));

		if (at->cmsg_level != SOL_SOCKET || at->cmsg_type != SCM_RIGHTS)
			continue;
		for (unsigned i = 0; i < fds; i++) {
			int got;

			memcpy(&got, CMSG_DATA(at) + i * sizeof(int), sizeof(int));
			if (*fd < 0)
				*fd = got;
			else
				close(got);
		}
	}
	if (n == (ssize_t)sizeof(*message))
		return 1;
	if (*fd >= 0)
		close(*fd);
	return -1;
}
