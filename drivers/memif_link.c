// SPDX-License-Identifier: BSD-3-Clause
// memif's control side: the few messages by which a client offers shared memory and rings, and a
// server accepts them (protocol version 2.0). All on the control thread, without ever blocking.

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "memif_wire.h"

#define MEMIF_TRY_NS 100000000ull	// between two tries of a client
#define MEMIF_PATIENCE_NS 3000000000ull // for a peer to finish talking
#define MEMIF_NAME "Sluice"

int memif_listen(struct memif *memif, struct errors *errors)
{
	struct sockaddr_un address;
	socklen_t length = memif_address(memif, &address);

	if (!memif->params->abstract && socket_claim(memif->port, memif->params->path, errors))
		return -1;
	memif->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (memif->listener >= 0 && !bind(memif->listener, (struct sockaddr *)&address, length) &&
	    !listen(memif->listener, 4))
		return 0;
	if (errno == EADDRINUSE)
		error_machine(errors, "path",
			      "the socket %s is served by another process, stop "
			      "that or choose another path",
			      memif->params->path);
	else
		error_machine(errors, "path", "the socket %s cannot be served: %s",
			      memif->params->path, strerror(errno));
	return -1;
}

void memif_hang_up_listener(struct memif *memif)
{
	struct sockaddr_un address = {0};
	socklen_t length = sizeof(address);

	if (memif->listener < 0)
		return;
	// Only a socket that was bound has a file of ours.
	if (!getsockname(memif->listener, (struct sockaddr *)&address, &length) &&
	    length > offsetof(struct sockaddr_un, sun_path) && address.sun_path[0])
		unlink(address.sun_path);
	close(memif->listener);
	memif->listener = -1;
}

static void memif_places_clear(struct memif *memif)
{
	for (unsigned i = 0; i < PORT_QUEUES_MAX; i++) {
		struct memif_place *places[] = {&memif->receive_at[i], &memif->send_at[i]};

		for (unsigned j = 0; j < 2; j++) {
			if (places[j]->size && places[j]->event >= 0)
				close(places[j]->event);
			*places[j] = (struct memif_place){.event = -1};
		}
	}
}

void memif_hang_up(struct memif *memif, const char *reason)
{
	if (memif->fd < 0)
		return;
	if (memif->state == MEMIF_UP)
		memif_let_out(memif);
	if (reason) {
		struct memif_message message = {.type = MEMIF_MSG_DISCONNECT};

		snprintf((char *)message.disconnect.reason, sizeof(message.disconnect.reason), "%s",
			 reason);
		memif_send(memif, &message, -1);
	}
	memif_places_clear(memif);
	memif_regions_free(memif);
	close(memif->fd);
	memif->fd = -1;
	memif->step = 0;
	memif->state = MEMIF_DOWN;
}

// Tells the peer and, once in a row of such peers, the user why there is no agreement.
static void memif_turn_away(struct memif *memif, const char *reason)
{
	if (!memif->bad_tries++)
		port_note(memif->port, "no agreement with the peer at %s: %s", memif->params->path,
			  reason);
	memif_hang_up(memif, reason);
}

static void memif_agreed(struct memif *memif)
{
	if (!memif_let_in(memif)) {
		memif_let_out(memif);
		memif_turn_away(memif, "no memory");
		return;
	}
	memif->state = MEMIF_UP;
	memif->bad_tries = 0;
	port_note(memif->port, "the peer at %s is there", memif->params->path);
}

// The client's messages after the server's hello, one for each acknowledgement.
static bool memif_offer(struct memif *memif)
{
	unsigned at = memif->step++;
	struct memif_message message = {0};
	const struct memif_place *place;
	bool to_server;

	if (at == 0) {
		message.type = MEMIF_MSG_INIT;
		message.init.version = MEMIF_VERSION;
		message.init.id = memif->params->id;
		memcpy(message.init.secret, memif->params->secret, strlen(memif->params->secret));
		memcpy(message.init.name, MEMIF_NAME, sizeof(MEMIF_NAME));
		return memif_send(memif, &message, -1);
	}
	at--;
	if (at < memif->n_regions) {
		message.type = MEMIF_MSG_ADD_REGION;
		message.region.index = (uint16_t)at;
		message.region.size = memif->regions[at].size;
		return memif_send(memif, &message, memif->regions[at].fd);
	}
	at -= memif->n_regions;
	if (at == (unsigned)memif->n_send + memif->n_receive) {
		message.type = MEMIF_MSG_CONNECT;
		snprintf((char *)message.connect.name, sizeof(message.connect.name), "%s",
			 memif->port->name);
		return memif_send(memif, &message, -1);
	}
	if (at > (unsigned)memif->n_send + memif->n_receive)
		return true; // an acknowledgement too many
	to_server = at < memif->n_send;
	if (!to_server)
		at -= memif->n_send;
	place = to_server ? &memif->send_at[at] : &memif->receive_at[at];
	message.type = MEMIF_MSG_ADD_RING;
	message.ring.flags = to_server ? MEMIF_RING_TO_SERVER : 0;
	message.ring.index = (uint16_t)at;
	message.ring.offset = place->offset;
	message.ring.log2_size = (uint8_t)__builtin_ctz(place->size);
	return memif_send(memif, &message, place->event);
}

// The client's answer to the server's hello; NULL, or why there is none.
static const char *memif_take_hello(struct memif *memif, const struct memif_message *message)
{
	uint16_t size = memif->params->ring_size;
	const char *why;

	if (message->hello.min_version > MEMIF_VERSION ||
	    message->hello.max_version < MEMIF_VERSION)
		return "the peer speaks another version of the protocol";
	memif->n_send = memif->pairs;
	if (memif->n_send > message->hello.max_to_server + 1)
		memif->n_send = message->hello.max_to_server + 1;
	memif->n_receive = memif->pairs;
	if (memif->n_receive > message->hello.max_to_client + 1)
		memif->n_receive = message->hello.max_to_client + 1;
	if (message->hello.max_log2_size < MEMIF_RING_LOG2_MAX &&
	    size > 1u << message->hello.max_log2_size)
		size = (uint16_t)(1u << message->hello.max_log2_size);
	why = memif_layout(memif, size);
	if (why)
		return why;
	if (memif->n_regions > message->hello.max_region + 1u)
		return "the peer takes fewer regions of memory than the packet buffers are in";
	return memif_offer(memif) ? NULL : "the peer does not listen";
}

static const char *memif_take_init(struct memif *memif, const struct memif_message *message)
{
	uint8_t secret[sizeof(message->init.secret)] = {0};

	memcpy(secret, memif->params->secret, strlen(memif->params->secret));
	if (message->init.version != MEMIF_VERSION)
		return "the peer speaks another version of the protocol";
	if (message->init.id != memif->params->id)
		return "the peer asks for another id";
	if (message->init.mode != 0)
		return "the peer wants another mode than Ethernet";
	if (memif->params->secret[0] && memcmp(secret, message->init.secret, sizeof(secret)) != 0)
		return "the peer does not know the secret";
	return NULL;
}

static const char *memif_take_region(struct memif *memif, const struct memif_message *message,
				     int *fd)
{
	if (*fd < 0 || message->region.index != memif->n_regions ||
	    memif->n_regions == MEMIF_REGIONS_MAX || !message->region.size)
		return "a region that makes no sense";
	memif->regions[memif->n_regions++] =
	    (struct memif_region){.size = message->region.size, .fd = *fd};
	*fd = -1;
	return NULL;
}

static const char *memif_take_ring(struct memif *memif, const struct memif_message *message,
				   int *fd)
{
	bool to_server = message->ring.flags & MEMIF_RING_TO_SERVER;
	struct memif_place *place;

	if (message->ring.index >= PORT_QUEUES_MAX || !message->ring.log2_size ||
	    message->ring.log2_size > MEMIF_RING_LOG2_MAX)
		return "a ring that makes no sense";
	if (message->ring.private_size)
		return "private headers, which this side does not know";
	place = to_server ? &memif->receive_at[message->ring.index]
			  : &memif->send_at[message->ring.index];
	if (place->size)
		return "a ring twice";
	*place = (struct memif_place){.region = message->ring.region,
				      .offset = message->ring.offset,
				      .size = (uint16_t)(1u << message->ring.log2_size),
				      .event = *fd};
	*fd = -1;
	return NULL;
}

static const char *memif_take_connect(struct memif *memif)
{
	struct memif_message reply = {.type = MEMIF_MSG_CONNECTED};
	const char *why = memif_map(memif);

	if (why)
		return why;
	snprintf((char *)reply.connect.name, sizeof(reply.connect.name), "%s", memif->port->name);
	if (!memif_send(memif, &reply, -1))
		return "the peer does not listen";
	memif_agreed(memif);
	return NULL;
}

static const char *memif_acknowledge(struct memif *memif, const char *why)
{
	struct memif_message ack = {.type = MEMIF_MSG_ACK};

	if (why)
		return why;
	return memif_send(memif, &ack, -1) ? NULL : "the peer does not listen";
}

// Does what a message asks for; NULL, or why the peer is turned away.
static const char *memif_take(struct memif *memif, const struct memif_message *message, int *fd)
{
	bool client = memif->params->role.n == MEMIF_CLIENT;
	// A server hears the client's offer in order: who it is, then what it has.
	bool begun = memif->step > 0;

	if (message->type == MEMIF_MSG_DISCONNECT) {
		snprintf(memif->told, sizeof(memif->told), "the peer says: %.*s",
			 (int)sizeof(message->disconnect.reason),
			 (const char *)message->disconnect.reason);
		return memif->told;
	}
	if (memif->state == MEMIF_UP)
		return message->type == MEMIF_MSG_ACK ? NULL : "a message that is not expected";
	if (client && message->type == MEMIF_MSG_HELLO && !begun)
		return memif_take_hello(memif, message);
	if (client && message->type == MEMIF_MSG_ACK && begun)
		return memif_offer(memif) ? NULL : "the peer does not listen";
	if (client && message->type == MEMIF_MSG_CONNECTED && begun) {
		memif_agreed(memif);
		return NULL;
	}
	if (!client && message->type == MEMIF_MSG_INIT && !begun) {
		memif->step = 1;
		return memif_acknowledge(memif, memif_take_init(memif, message));
	}
	if (!client && message->type == MEMIF_MSG_ADD_REGION && begun)
		return memif_acknowledge(memif, memif_take_region(memif, message, fd));
	if (!client && message->type == MEMIF_MSG_ADD_RING && begun)
		return memif_acknowledge(memif, memif_take_ring(memif, message, fd));
	if (!client && message->type == MEMIF_MSG_CONNECT && begun)
		return memif_take_connect(memif);
	return "a message that is not expected";
}

static void memif_hear(struct memif *memif, uint64_t now_ns)
{
	bool was_up = memif->state == MEMIF_UP;
	struct memif_message message;
	const char *why;
	int result;
	int fd;

	while (memif->fd >= 0 && (result = memif_receive(memif, &message, &fd)) != 0) {
		if (result < 0) {
			memif_hang_up(memif, NULL);
			break;
		}
		why = memif_take(memif, &message, &fd);
		if (fd >= 0)
			close(fd);
		if (why && memif->state == MEMIF_UP)
			memif_hang_up(memif, message.type == MEMIF_MSG_DISCONNECT ? NULL : why);
		else if (why)
			memif_turn_away(memif, why);
	}
	if (was_up && memif->state == MEMIF_DOWN) {
		port_note(memif->port, "the peer at %s has gone", memif->params->path);
		memif->since_ns = now_ns;
	}
}

static void memif_accept(struct memif *memif, uint64_t now_ns)
{
	struct memif_message hello = {.type = MEMIF_MSG_HELLO};
	int fd = accept4(memif->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0)
		return;
	if (memif->fd >= 0) { // there is a peer already: one is enough
		close(fd);
		return;
	}
	memif->fd = fd;
	memif->state = MEMIF_TALKING;
	memif->since_ns = now_ns;
	memcpy(hello.hello.name, MEMIF_NAME, sizeof(MEMIF_NAME));
	hello.hello.min_version = MEMIF_VERSION;
	hello.hello.max_version = MEMIF_VERSION;
	hello.hello.max_region = MEMIF_REGIONS_MAX - 1;
	hello.hello.max_to_client = PORT_QUEUES_MAX - 1;
	hello.hello.max_to_server = PORT_QUEUES_MAX - 1;
	hello.hello.max_log2_size = MEMIF_RING_LOG2_MAX;
	if (!memif_send(memif, &hello, -1))
		memif_hang_up(memif, NULL);
}

static void memif_call(struct memif *memif, uint64_t now_ns)
{
	struct sockaddr_un address;
	socklen_t length = memif_address(memif, &address);

	if (memif->since_ns && now_ns - memif->since_ns < MEMIF_TRY_NS)
		return;
	memif->since_ns = now_ns;
	memif->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (memif->fd < 0)
		return;
	memif->state = MEMIF_TALKING;
	if (!connect(memif->fd, (struct sockaddr *)&address, length))
		return;
	if (errno == ENOENT || errno == ECONNREFUSED || errno == EAGAIN)
		memif_hang_up(memif, NULL);
	else if (errno == EPROTOTYPE)
		memif_turn_away(memif, "it is the socket of something else than memif");
	else
		memif_turn_away(memif, strerror(errno));
}

// How the peer broke the rules; NULL: it did not.
static const char *memif_crime(const struct memif *memif)
{
	if (__atomic_load_n(&memif->gone, __ATOMIC_RELAXED))
		return "memory that it shared is not there any more";
	for (unsigned i = 0; i < PORT_QUEUES_MAX; i++)
		if (__atomic_load_n(&memif->receive[i].broken, __ATOMIC_RELAXED) ||
		    __atomic_load_n(&memif->send[i].broken, __ATOMIC_RELAXED))
			return "a ring that makes no sense";
	return NULL;
}

void memif_talk(struct memif *memif, uint64_t now_ns)
{
	const char *how;

	if (memif->fd >= 0)
		memif_hear(memif, now_ns);
	if (memif->listener >= 0)
		memif_accept(memif, now_ns);
	else if (memif->fd < 0)
		memif_call(memif, now_ns);
	if (memif->state == MEMIF_TALKING && now_ns - memif->since_ns > MEMIF_PATIENCE_NS)
		memif_turn_away(memif, "it does not say what it has to");
	how = memif->state == MEMIF_UP ? memif_crime(memif) : NULL;
	if (how) {
		port_fault(memif->port,
			   "the peer at %s broke the protocol (%s), its connection was ended",
			   memif->params->path, how);
		memif_hang_up(memif, how);
	}
}
