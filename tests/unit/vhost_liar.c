// SPDX-License-Identifier: BSD-3-Clause
// A raw peer of a vhost port: the front end's messages, memory and rings, and no care.

#include "vhost_liar.h"

#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "suite.h"

struct liar liar;

struct words {
	uint32_t request;
	uint32_t flags;
	uint32_t size;
	uint64_t words[5];
} __attribute__((packed));

// Says something with so many words of 64 bits, and a file if it is not negative.
static bool say(uint32_t request, const uint64_t *words, unsigned n, int fd)
{
	struct words message = {.request = request, .flags = 1, .size = n * 8};
	char room[CMSG_SPACE(sizeof(int))] = {0};
	struct iovec part = {.iov_base = &message, .iov_len = 12 + n * 8};
	struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};

	if (n)
		memcpy(message.words, words, n * sizeof(*words));
	if (fd >= 0) {
		struct cmsghdr *extra;

		header.msg_control = room;
		header.msg_controllen = sizeof(room);
		extra = CMSG_FIRSTHDR(&header);
		extra->cmsg_level = SOL_SOCKET;
		extra->cmsg_type = SCM_RIGHTS;
		extra->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(extra), &fd, sizeof(fd));
	}
	return sendmsg(liar.fd, &header, MSG_NOSIGNAL) == (ssize_t)part.iov_len;
}

static uint64_t pair(uint32_t low, uint32_t high)
{
	return low | (uint64_t)high << 32;
}

bool liar_ring(uint32_t ring, uint32_t size, uint32_t base, uint64_t shift)
{
	uint64_t at = LIAR_GUEST_AT + LIAR_RINGS_AT(ring) + shift;
	uint64_t place[] = {pair(ring, 0), at, at + 16384, at + 8192, 0};
	int call = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	int kick = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	bool said = say(8, (uint64_t[]){pair(ring, size)}, 1, -1) &&
		    say(10, (uint64_t[]){pair(ring, base)}, 1, -1) && say(9, place, 5, -1) &&
		    say(13, (uint64_t[]){ring}, 1, call) && say(12, (uint64_t[]){ring}, 1, kick);

	close(call);
	close(kick);
	return said;
}

bool liar_memory(uint64_t said_bytes, uint64_t bytes)
{
	uint64_t table[] = {1, LIAR_GUEST_AT, said_bytes, LIAR_GUEST_AT, 0};
	int memory = memfd_create("liar", MFD_CLOEXEC);
	bool said = !ftruncate(memory, (off_t)bytes) && say(5, table, 5, memory);

	if (liar.memory >= 0)
		close(liar.memory);
	liar.memory = memory;
	return said;
}

void liar_call(bool packed, uint64_t memory_bytes)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	uint64_t features = 1ull << VIRTIO_F_VERSION_1 | 1ull << VIRTIO_NET_F_MRG_RXBUF |
			    (packed ? 1ull << VIRTIO_F_RING_PACKED : 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s/liar", rig_folder());
	liar.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	liar.memory = -1;
	CU_ASSERT_FATAL(!connect(liar.fd, (struct sockaddr *)&address, sizeof(address)));
	CU_ASSERT(say(3, NULL, 0, -1));
	CU_ASSERT(say(2, &features, 1, -1));
	CU_ASSERT(liar_memory(LIAR_BYTES, memory_bytes));
	liar.bytes = mmap(NULL, LIAR_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, liar.memory, 0);
	CU_ASSERT_FATAL(liar.bytes != MAP_FAILED);
}

void liar_open(bool packed, uint64_t shift)
{
	uint32_t base = packed ? 0x8000 : 0;

	liar_call(packed, LIAR_BYTES);
	CU_ASSERT(liar_ring(0, LIAR_RING_SIZE, base, shift));
	CU_ASSERT(liar_ring(1, LIAR_RING_SIZE, base, shift));
	CU_ASSERT(rig_wait_link(&liar.host, PORT_UP));
}

void liar_close(void)
{
	close(liar.fd);
	CU_ASSERT(rig_wait_link(&liar.host, PORT_DOWN));
	munmap(liar.bytes, LIAR_BYTES);
	close(liar.memory);
}

void liar_host_open(void)
{
	char params[256];

	snprintf(params, sizeof(params), "{path: %s/liar, via: own}", rig_folder());
	CU_ASSERT_FATAL(rig_open(&liar.host, "vhost", params, 1));
	liar.faults = 0;
	liar.host.port.faults = &liar.faults;
}

void liar_chain(unsigned ring, unsigned i, struct vring_desc desc)
{
	((struct vring_desc *)(liar.bytes + LIAR_RINGS_AT(ring)))[i] = desc;
}

void liar_heads(unsigned ring, uint16_t first, uint16_t second, uint16_t n)
{
	struct vring_avail *avail = (struct vring_avail *)(liar.bytes + LIAR_AVAIL_AT(ring));

	avail->ring[0] = first;
	avail->ring[1] = second;
	__atomic_store_n(&avail->idx, n, __ATOMIC_RELEASE);
}
