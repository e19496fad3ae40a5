// SPDX-License-Identifier: BSD-3-Clause
// The vhost driver's own data path: the life of a connection. DPDK's library speaks the protocol
// and calls back on its own thread; what it is about to change or unmap, pollers have left before.

#include <stdlib.h>
#include <string.h>

#include <rte_vhost.h>

#include "vhost.h"

#define VHOST_AGAIN_NS 1000000000ull // before a peer that broke the rules is called again

// The library's callbacks know a path and no more.
struct vhost_links {
	pthread_mutex_t lock;
	struct vhost_link *first;
	int gone; // what the library's thread touched for the present message was not there
};
static struct vhost_links vhost_links = {.lock = PTHREAD_MUTEX_INITIALIZER};

// The link of a connection, locked; NULL: none, or another connection has taken its place.
static struct vhost_link *vhost_link_of(int vid, bool any)
{
	struct vhost_link *link;
	char path[108];

	if (rte_vhost_get_ifname(vid, path, sizeof(path)))
		return NULL;
	pthread_mutex_lock(&vhost_links.lock);
	for (link = vhost_links.first; link && strcmp(link->path, path) != 0; link = link->next)
		;
	if (link)
		pthread_mutex_lock(&link->lock);
	pthread_mutex_unlock(&vhost_links.lock);
	if (link && !any && link->vid != vid) {
		pthread_mutex_unlock(&link->lock);
		return NULL;
	}
	return link;
}

enum {
	SET_FEATURES = 2,
	RESET_OWNER = 4,
	SET_MEM_TABLE = 5,
	SET_VRING_NUM = 8,
	SET_VRING_ADDR = 9,
	SET_VRING_BASE = 10,
	SET_VRING_KICK = 12,
	SET_VRING_CALL = 13,
};

static uint32_t vhost_request(const void *message)
{
	uint32_t request;

	memcpy(&request, message, sizeof(request));
	return request;
}

// Before the library does what a message asks for: these change memory or rings under the pollers.
static bool vhost_request_matters(uint32_t request)
{
	return request == SET_FEATURES || request == RESET_OWNER || request == SET_MEM_TABLE ||
	       (request >= SET_VRING_NUM && request <= SET_VRING_BASE) ||
	       request == SET_VRING_KICK || request == SET_VRING_CALL;
}

static enum rte_vhost_msg_result vhost_before(int vid, void *message)
{
	uint32_t request = vhost_request(message);
	struct vhost_link *link = vhost_request_matters(request) ? vhost_link_of(vid, false) : NULL;

	// The library maps and looks before we are told where.
	port_guard_thread(&vhost_links.gone);
	__atomic_store_n(&vhost_links.gone, 0, __ATOMIC_RELAXED);
	if (link) {
		vhost_let_out(link, 0, VHOST_RINGS_MAX);
		if (request == SET_MEM_TABLE || request == RESET_OWNER)
			link->table = false;
		pthread_mutex_unlock(&link->lock);
	}
	return RTE_VHOST_MSG_RESULT_NOT_HANDLED;
}

// After it has done so; where it failed, it ends the connection instead.
static enum rte_vhost_msg_result vhost_after(int vid, void *message)
{
	uint32_t request = vhost_request(message);
	struct vhost_link *link = vhost_request_matters(request) ? vhost_link_of(vid, false) : NULL;

	if (link) {
		if (request == SET_MEM_TABLE)
			link->table = true;
		if (__atomic_load_n(&vhost_links.gone, __ATOMIC_RELAXED))
			__atomic_store_n(&link->gone, 1, __ATOMIC_RELAXED);
		vhost_let_all_in(link);
		pthread_mutex_unlock(&link->lock);
	}
	return RTE_VHOST_MSG_RESULT_NOT_HANDLED;
}

static const struct rte_vhost_user_extern_ops vhost_messages = {
    .pre_msg_handle = vhost_before,
    .post_msg_handle = vhost_after,
};

// The newest connection counts: of the one before we may just not have heard yet that it is dead.
static int vhost_new_connection(int vid)
{
	struct vhost_link *link = vhost_link_of(vid, true);

	if (!link)
		return -1;
	vhost_end(link);
	link->gone = 0;
	link->table = false;
	link->vid = vid;
	link->bad_vid = -1; // numbers are used again
	memset(link->ready, 0, sizeof(link->ready));
	memset(link->seen, 0, sizeof(link->seen));
	pthread_mutex_unlock(&link->lock);
	return rte_vhost_extern_callback_register(vid, &vhost_messages, NULL);
}

static void vhost_destroy_connection(int vid)
{
	struct vhost_link *link = vhost_link_of(vid, false);

	if (!link)
		return;
	vhost_end(link);
	link->vid = -1;
	link->bad_vid = -1; // the number is another's soon
	pthread_mutex_unlock(&link->lock);
}

static int vhost_new_device(int vid)
{
	struct vhost_link *link = vhost_link_of(vid, false);

	if (!link)
		return -1;
	link->running = true;
	vhost_let_all_in(link);
	__atomic_store_n(&link->up, 1, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&link->lock);
	return 0;
}

static void vhost_destroy_device(int vid)
{
	struct vhost_link *link = vhost_link_of(vid, false);

	if (!link)
		return;
	vhost_end(link);
	pthread_mutex_unlock(&link->lock);
}

static int vhost_ring_changed(int vid, uint16_t ring, int enable)
{
	struct vhost_link *link = vhost_link_of(vid, false);

	if (!link)
		return 0;
	if (ring < VHOST_RINGS_MAX) {
		link->ready[ring] = enable;
		if (enable)
			vhost_let_in(link, ring);
		else
			vhost_let_out(link, ring, ring + 1);
	}
	pthread_mutex_unlock(&link->lock);
	return 0;
}

static const struct rte_vhost_device_ops vhost_calls = {
    .new_device = vhost_new_device,
    .destroy_device = vhost_destroy_device,
    .vring_state_changed = vhost_ring_changed,
    .new_connection = vhost_new_connection,
    .destroy_connection = vhost_destroy_connection,
};

// Offloads, event indices and tables of descriptors are not handled, and so not offered.
#define VHOST_NOT_OFFERED                                                                          \
	(1ull << VIRTIO_NET_F_CSUM | 1ull << VIRTIO_NET_F_GUEST_CSUM |                             \
	 1ull << VIRTIO_NET_F_GUEST_TSO4 | 1ull << VIRTIO_NET_F_GUEST_TSO6 |                       \
	 1ull << VIRTIO_NET_F_GUEST_ECN | 1ull << VIRTIO_NET_F_GUEST_UFO |                         \
	 1ull << VIRTIO_NET_F_HOST_TSO4 | 1ull << VIRTIO_NET_F_HOST_TSO6 |                         \
	 1ull << VIRTIO_NET_F_HOST_ECN | 1ull << VIRTIO_NET_F_HOST_UFO | 1ull << VHOST_F_LOG_ALL | \
	 1ull << VIRTIO_RING_F_INDIRECT_DESC | 1ull << VIRTIO_RING_F_EVENT_IDX)

static bool vhost_register(struct vhost_link *link)
{
	const struct vhost_params *params = link->port->params;

	if (rte_vhost_driver_register(link->path, params->client ? RTE_VHOST_USER_CLIENT : 0))
		return false;
	if (!rte_vhost_driver_disable_features(link->path, VHOST_NOT_OFFERED) &&
	    !rte_vhost_driver_callback_register(link->path, &vhost_calls) &&
	    !rte_vhost_driver_start(link->path)) {
		link->registered = true;
		return true;
	}
	rte_vhost_driver_unregister(link->path);
	return false;
}

// Hangs up, and hears no more calls. The library calls back meanwhile: no lock may be held.
static void vhost_unregister(struct vhost_link *link)
{
	if (link->registered)
		rte_vhost_driver_unregister(link->path);
	link->registered = false;
	pthread_mutex_lock(&link->lock);
	link->vid = -1;
	link->bad = NULL;
	link->gone = 0;
	pthread_mutex_unlock(&link->lock);
}

void vhost_link_tick(struct vhost_link *link, uint64_t now_ns)
{
	const struct vhost_params *params = link->port->params;
	bool guilty = false, lost = false;
	const char *how = NULL;

	for (unsigned i = 0; i < VHOST_RINGS_MAX; i++)
		if (__atomic_load_n(&vhost_ring(link, i)->broken, __ATOMIC_RELAXED))
			how = "a ring makes no sense";
	if (link->registered && !pthread_mutex_trylock(&link->lock)) {
		if (__atomic_load_n(&link->gone, __ATOMIC_RELAXED) || (how && link->running))
			vhost_blame(link, how);
		how = link->bad;
		guilty = how && link->vid >= 0 && link->bad_vid == link->vid;
		link->bad = guilty ? how : NULL;
		lost = link->lost;
		link->lost = false;
		pthread_mutex_unlock(&link->lock);
		if (how)
			port_fault(
			    link->port,
			    "the peer at %s broke the protocol (%s), its connection was ended",
			    link->path, how);
	}
	if (lost)
		port_note(link->port,
			  "where the packed rings of the peer at %s stand is not known since the "
			  "process before this one was killed; a reset of its device brings them "
			  "back",
			  link->path);
	if (guilty) {
		vhost_unregister(link);
		link->until_ns = now_ns + (params->client ? VHOST_AGAIN_NS : 0);
	}
	if (!link->registered && now_ns >= link->until_ns && !vhost_register(link)) {
		port_fault(link->port, "the socket %s cannot be served again", link->path);
		link->until_ns = UINT64_MAX;
	}
}

int vhost_link_open(struct port *port, struct vhost_link **link_, struct errors *errors)
{
	const struct vhost_params *params = port->params;
	struct vhost_link *link = calloc(1, sizeof(*link));
	struct vhost_queue *queues =
	    aligned_alloc(_Alignof(struct vhost_queue), VHOST_RINGS_MAX * sizeof(*queues));

	if (!link || !queues) {
		free(link);
		free(queues);
		error_machine(errors, NULL, "no memory for the port");
		return -1;
	}
	*link_ = link;
	memset(queues, 0, VHOST_RINGS_MAX * sizeof(*queues));
	link->port = port;
	link->path = params->path;
	link->vid = -1;
	link->receive = queues;
	link->send = queues + PORT_QUEUES_MAX;
	pthread_mutex_init(&link->lock, NULL);
	for (uint16_t i = 0; i < port->rx_queues; i++) {
		link->shares[i] = (struct vhost_share){.queues = link->receive,
						       .end = &link->end,
						       .first = i,
						       .step = port->rx_queues,
						       .at = i};
		port->rx_queue[i] = &link->shares[i];
	}
	for (uint16_t i = 0; i < port->tx_queues; i++)
		port->tx_queue[i] = &link->send[i];
	port->rx = vhost_own_rx;
	port->tx = vhost_own_tx;
	pthread_mutex_lock(&vhost_links.lock);
	link->next = vhost_links.first;
	vhost_links.first = link;
	pthread_mutex_unlock(&vhost_links.lock);
	if (vhost_register(link))
		return 0;
	error_machine(errors, "path", "the socket %s cannot be %s", link->path,
		      params->client ? "used" : "served");
	return -1;
}

void vhost_link_close(struct vhost_link *link)
{
	if (!link)
		return;
	vhost_unregister(link);
	pthread_mutex_lock(&vhost_links.lock);
	for (struct vhost_link **at = &vhost_links.first; *at; at = &(*at)->next)
		if (*at == link) {
			*at = link->next;
			break;
		}
	pthread_mutex_unlock(&vhost_links.lock);
	port_unguard(&link->gone);
	free(link->receive);
	free(link);
}

void vhost_link_counters(struct vhost_link *link, struct port_counters *counters)
{
	*counters = (struct port_counters){0};
	for (unsigned i = 0; i < PORT_QUEUES_MAX; i++) {
		const struct vhost_queue *receive = &link->receive[i];
		const struct vhost_queue *send = &link->send[i];

		counters->rx_packets += __atomic_load_n(&receive->packets, __ATOMIC_RELAXED);
		counters->rx_bytes += __atomic_load_n(&receive->bytes, __ATOMIC_RELAXED);
		counters->rx_no_memory += __atomic_load_n(&receive->no_memory, __ATOMIC_RELAXED);
		counters->tx_packets += __atomic_load_n(&send->packets, __ATOMIC_RELAXED);
		counters->tx_bytes += __atomic_load_n(&send->bytes, __ATOMIC_RELAXED);
		counters->tx_errors += __atomic_load_n(&send->errors, __ATOMIC_RELAXED);
	}
}

bool vhost_link_up(struct vhost_link *link)
{
	return __atomic_load_n(&link->up, __ATOMIC_RELAXED);
}
