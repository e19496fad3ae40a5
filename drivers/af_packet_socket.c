// SPDX-License-Identifier: BSD-3-Clause
// af_packet's sockets: one that only receives and one that only sends, each with its ring.

#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <net/if.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <rte_common.h>

#include "af_packet.h"

#define AF_PACKET_BLOCK_BYTES 65536

// What the kernel puts before the frame in a slot, at most.
#define AF_PACKET_BEFORE (TPACKET_ALIGN(TPACKET2_HDRLEN + 16) + sizeof(struct virtio_net_hdr))

static int af_packet_failed(const char *what, struct errors *errors)
{
	if (errno == EPERM || errno == EACCES)
		error_machine(errors, NULL,
			      "no permission for packet sockets; run as root, or give the program "
			      "the right: setcap cap_net_raw+ep FILE");
	else
		error_machine(errors, NULL, "%s: %s", what, strerror(errno));
	return -1;
}

static bool af_packet_set(int fd, int option, int value)
{
	return !setsockopt(fd, SOL_PACKET, option, &value, sizeof(value));
}

static bool af_packet_bind(int fd, const char *interface, uint16_t protocol)
{
	struct sockaddr_ll address = {.sll_family = AF_PACKET, .sll_protocol = htons(protocol)};

	address.sll_ifindex = (int)if_nametoindex(interface);
	return address.sll_ifindex && !bind(fd, (struct sockaddr *)&address, sizeof(address));
}

static int af_packet_map(struct af_packet_ring *ring, int kind, uint32_t mtu, uint32_t slots,
			 struct errors *errors)
{
	uint32_t frame = AF_PACKET_BEFORE + mtu + AF_PACKET_BEYOND_MTU;
	struct tpacket_req request = {.tp_frame_size = RTE_ALIGN_CEIL(frame, TPACKET_ALIGNMENT),
				      .tp_block_size = AF_PACKET_BLOCK_BYTES};

	while (request.tp_block_size < request.tp_frame_size)
		request.tp_block_size *= 2;
	ring->slot_bytes = request.tp_frame_size;
	ring->block_bytes = request.tp_block_size;
	ring->slots_a_block = request.tp_block_size / request.tp_frame_size;
	request.tp_block_nr = (slots + ring->slots_a_block - 1) / ring->slots_a_block;
	request.tp_frame_nr = request.tp_block_nr * ring->slots_a_block;
	ring->n_slots = request.tp_frame_nr;
	ring->bytes = (size_t)request.tp_block_nr * request.tp_block_size;
	if (setsockopt(ring->fd, SOL_PACKET, kind, &request, sizeof(request)))
		return af_packet_failed("the kernel does not make a ring of packets", errors);
	ring->memory = mmap(NULL, ring->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, 0);
	if (ring->memory != MAP_FAILED)
		return 0;
	ring->memory = NULL;
	return af_packet_failed("a ring of packets cannot be mapped", errors);
}

static int af_packet_socket(struct af_packet_ring *ring, struct errors *errors)
{
	// No protocol yet: nothing is received before the ring is there.
	ring->fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (ring->fd < 0)
		return af_packet_failed("the kernel does not make a packet socket", errors);
	if (!af_packet_set(ring->fd, PACKET_VERSION, TPACKET_V2))
		return af_packet_failed("the kernel knows no packet rings of version 2", errors);
	return 0;
}

// What goes out by the interface is not for us, whoever sends it. The option keeps it from a socket
// of its own, the filter also from one of several that share.
static bool af_packet_only_in(int fd)
{
	struct sock_filter steps[] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)(SKF_AD_OFF + SKF_AD_PKTTYPE)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PACKET_OUTGOING, 0, 1),
	    BPF_STMT(BPF_RET | BPF_K, 0),
	    BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
	};
	struct sock_fprog filter = {.len = RTE_DIM(steps), .filter = steps};

	return af_packet_set(fd, PACKET_IGNORE_OUTGOING, 1) &&
	       !setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof(filter));
}

int af_packet_receiver_open(struct af_packet_receiver *receiver, const char *interface,
			    uint32_t mtu, uint32_t slots, struct errors *errors)
{
	struct af_packet_ring *ring = &receiver->ring;

	if (af_packet_socket(ring, errors))
		return -1;
	// With each frame: where its checksum is to be finished, and whether it is one frame.
	if (!af_packet_set(ring->fd, PACKET_VNET_HDR, 1))
		return af_packet_failed("the kernel does not tell about checksums", errors);
	if (!af_packet_only_in(ring->fd))
		return af_packet_failed("the kernel cannot leave out what it sends", errors);
	if (af_packet_map(ring, PACKET_RX_RING, mtu, slots, errors))
		return -1;
	if (!af_packet_bind(ring->fd, interface, ETH_P_ALL))
		return af_packet_failed("the interface cannot be used", errors);
	return 0;
}

int af_packet_sender_open(struct af_packet_sender *sender, const char *interface, uint32_t mtu,
			  uint32_t slots, struct errors *errors)
{
	struct af_packet_ring *ring = &sender->ring;

	if (af_packet_socket(ring, errors))
		return -1;
	// A frame that the interface refuses is passed over, and does not hold up the others.
	if (!af_packet_set(ring->fd, PACKET_LOSS, 1))
		return af_packet_failed("the kernel does not take the ring's options", errors);
	if (af_packet_map(ring, PACKET_TX_RING, mtu, slots, errors))
		return -1;
	if (!af_packet_bind(ring->fd, interface, 0))
		return af_packet_failed("the interface cannot be used", errors);
	return 0;
}

void af_packet_ring_close(struct af_packet_ring *ring)
{
	if (ring->memory)
		munmap(ring->memory, ring->bytes);
	if (ring->fd >= 0)
		close(ring->fd);
	ring->memory = NULL;
	ring->fd = -1;
}
