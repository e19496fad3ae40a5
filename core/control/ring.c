// SPDX-License-Identifier: BSD-3-Clause
// Memory of rings.

#include "control/ring.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

bool ring_make(struct ring *ring, size_t size)
{
	const int flags = MAP_SHARED | MAP_FIXED | MAP_POPULATE;
	int fd = memfd_create("sluice-ring", MFD_CLOEXEC);
	uint8_t *bytes = MAP_FAILED;

	*ring = (struct ring){0};
	// A file of memory that was not got at once would be missed by whoever writes to it first.
	if (fd >= 0 && !posix_fallocate(fd, 0, (off_t)size))
		bytes = mmap(NULL, 2 * size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (bytes != MAP_FAILED &&
	    (mmap(bytes, size, PROT_READ | PROT_WRITE, flags, fd, 0) == MAP_FAILED ||
	     mmap(bytes + size, size, PROT_READ | PROT_WRITE, flags, fd, 0) == MAP_FAILED)) {
		munmap(bytes, 2 * size);
		bytes = MAP_FAILED;
	}
	if (fd >= 0)
		close(fd);
	if (bytes == MAP_FAILED)
		return false;
	ring->bytes = bytes;
	ring->size = size;
	return true;
}

void ring_free(struct ring *ring)
{
	if (ring->bytes)
		munmap(ring->bytes, 2 * ring->size);
	ring->bytes = NULL;
}
