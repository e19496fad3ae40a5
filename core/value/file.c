// SPDX-License-Identifier: BSD-3-Clause
// Reads files that people write: graphs and scripts.

#include "value/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "value/arena.h"
#include "value/value.h"

static const char *file_kind(mode_t mode)
{
	return S_ISDIR(mode)	? "a directory"
	       : S_ISFIFO(mode) ? "a FIFO"
	       : S_ISSOCK(mode) ? "a socket"
				: "a device";
}

static int refuse_errno(const char *file, struct errors *errors)
{
	switch (errno) {
	case ENOENT:
	case ENOTDIR:
		error_at(errors, (struct place){.file = file}, "there is no such file");
		break;
	case EACCES:
	case EPERM:
		error_machine_at(errors, (struct place){.file = file},
				 "no permission to read the file, it should be readable for you");
		break;
	default:
		error_machine_at(errors, (struct place){.file = file}, "cannot read the file: %s",
				 strerror(errno));
	}
	return -1;
}

// Looks before it opens: to open a FIFO would wait, to open a device may do anything.
static int file_open(const char *file, struct errors *errors)
{
	struct stat status;
	int fd;

	if (stat(file, &status))
		return refuse_errno(file, errors);
	if (!S_ISREG(status.st_mode)) {
		error_at(errors, (struct place){.file = file}, "is %s, not a graph file",
			 file_kind(status.st_mode));
		return -1;
	}
	if (status.st_size > VALUE_BYTES_MAX) {
		error_at(errors, (struct place){.file = file},
			 "is %jd bytes long, a graph file should be at most 16 MiB",
			 (intmax_t)status.st_size);
		return -1;
	}
	fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	return fd < 0 ? refuse_errno(file, errors) : fd;
}

// All bytes, one more than allowed at most: then the length says that it is too long.
static char *file_bytes(int fd, size_t *length)
{
	size_t room = 1 << 16;
	char *bytes = memory_new(room, 1);

	*length = 0;
	while (*length <= VALUE_BYTES_MAX) {
		ssize_t n = read(fd, bytes + *length, room - *length);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			if (n == 0)
				return bytes;
			break;
		}
		*length += n;
		if (*length == room) {
			room *= 2;
			bytes = memory_grow(bytes, room, 1);
		}
	}
	if (*length > VALUE_BYTES_MAX)
		return bytes;
	free(bytes);
	return NULL;
}

char *file_read(const char *file, size_t *length, struct errors *errors)
{
	int fd = file_open(file, errors);
	char *bytes;

	if (fd < 0)
		return NULL;
	bytes = file_bytes(fd, length);
	if (!bytes)
		refuse_errno(file, errors);
	close(fd);
	return bytes;
}
