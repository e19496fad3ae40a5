// SPDX-License-Identifier: BSD-3-Clause
// Devices that exist only while a peer is at the other end of a socket. DPDK's probe waits for a
// peer without end, and a device whose peer has gone stays dead; so a helper thread creates the
// device when a peer is there, lets the pollers in, and when the peer has gone waits until they
// have left and removes it, over and over.

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <rte_alarm.h>
#include <rte_ethdev.h>

#include "port/eallog.h"
#include "port/ethdev.h"
#include "port/quiet.h"
#include "port/socket.h"
#include "value/arena.h"
#include "value/errors.h"

#define LATE_RETRY_MS 100 // between two looks for a peer, or whether it is still there
#define LATE_RARE_MS 1000
#define LATE_CLOSE_MS 3000
#define LATE_TELL 10 // failures in a row, until the reason is worth a line

struct ethdev_late {
	struct port *port;
	struct ethdev_options options; // its texts are own copies
	pthread_t thread;
	pthread_mutex_t lock; // of all below, and of the device
	pthread_cond_t changed;
	bool stopping;
	bool ended;		   // the thread will touch nothing any more
	bool up;		   // the device is there
	bool probes;		   // the thread is inside DPDK, perhaps for long
	unsigned failures;	   // in a row
	bool settled;		   // no alarm of the device is left
	struct port_counters past; // of devices that are gone
};

static void late_deadline(struct timespec *at, unsigned ms)
{
	clock_gettime(CLOCK_MONOTONIC, at);
	at->tv_sec += ms / 1000;
	at->tv_nsec += (long)(ms % 1000) * 1000000;
	if (at->tv_nsec >= 1000000000) {
		at->tv_sec++;
		at->tv_nsec -= 1000000000;
	}
}

// With the lock held. Waits, at most so long, for a change; false: the port is closing.
static bool late_pause(struct ethdev_late *late, unsigned ms)
{
	struct timespec at;

	late_deadline(&at, ms);
	while (!late->stopping && pthread_cond_timedwait(&late->changed, &late->lock, &at) == 0)
		;
	return !late->stopping;
}

static bool late_is_socket(const char *path)
{
	struct stat info;

	return !stat(path, &info) && S_ISSOCK(info.st_mode);
}

// With the lock held, which is released meanwhile. Creates the device; false: it did not work.
static bool late_create(struct ethdev_late *late, struct ethdev *dev)
{
	struct errors *errors;
	int code;
	char *text;

	if (!late->options.server && !late_is_socket(late->options.socket)) {
		late->failures = 0;
		return false;
	}
	errors = errors_new();
	late->probes = true;
	pthread_mutex_unlock(&late->lock);
	code = ethdev_create(late->port, dev, &late->options, errors);
	if (code)
		ethdev_destroy(dev);
	pthread_mutex_lock(&late->lock);
	late->probes = false;
	// A peer that is not there yet is no failure to speak of; one that does not go away is.
	if (!code) {
		late->failures = 0;
	} else if (!late->stopping && ++late->failures == LATE_TELL) {
		text = errors_text(errors);
		text[strcspn(text, "\n")] = '\0';
		port_note(late->port, "no use of the peer at %s yet: %s", late->options.socket,
			  text);
		free(text);
	}
	errors_free(errors);
	return !code;
}

static void late_let_in(struct ethdev *dev, bool in)
{
	for (unsigned i = 0; i < PORT_QUEUES_MAX; i++) {
		__atomic_store_n(&dev->rx[i].up, in, __ATOMIC_RELEASE);
		__atomic_store_n(&dev->tx[i].up, in, __ATOMIC_RELEASE);
	}
}

// The device's end of the connection; -1: not found, because the peer knows its socket by another
// name. DPDK tells when a peer has gone, but leaves an interrupt handler behind for a server's
// socket in doing so; so we look ourselves.
static int late_connection(const struct ethdev_late *late)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *entry;
	int found = -1;

	while (dir && found < 0 && (entry = readdir(dir))) {
		struct sockaddr_un address = {0};
		socklen_t length = sizeof(address);
		socklen_t int_length = sizeof(int);
		int fd = atoi(entry->d_name);
		int listens = 0;

		if (late->options.server ? getsockname(fd, (struct sockaddr *)&address, &length)
					 : getpeername(fd, (struct sockaddr *)&address, &length))
			continue;
		if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &int_length) || listens)
			continue;
		if (address.sun_family == AF_UNIX &&
		    !strncmp(address.sun_path, late->options.socket, sizeof(address.sun_path)))
			found = fd;
	}
	if (dir)
		closedir(dir);
	return found;
}

static bool late_peer_there(const struct ethdev *dev, int connection)
{
	struct pollfd look = {.fd = connection, .events = POLLRDHUP};
	struct eallog_caught caught;
	struct rte_eth_link link;
	int code;

	if (connection >= 0)
		return poll(&look, 1, 0) == 0;
	eallog_catch_begin(&caught);
	code = rte_eth_link_get_nowait(dev->port_id, &link);
	eallog_catch_end(&caught);
	return !code && link.link_status == RTE_ETH_LINK_UP;
}

static void late_settled(void *arg)
{
	struct ethdev_late *late = arg;

	pthread_mutex_lock(&late->lock);
	late->settled = true;
	pthread_cond_broadcast(&late->changed);
	pthread_mutex_unlock(&late->lock);
}

// With the lock held. A device that sees its peer go sets an alarm to clean up, on DPDK's interrupt
// thread. Alarms run in turn: when one set after it has run, it is over.
static void late_settle(struct ethdev_late *late)
{
	late->settled = false;
	if (rte_eal_alarm_set(10, late_settled, late))
		return;
	while (!late->settled)
		pthread_cond_wait(&late->changed, &late->lock);
}

// With the lock held, which is released while pollers leave.
static void late_remove(struct ethdev_late *late, struct ethdev *dev, int connection)
{
	late->up = false;
	late_let_in(dev, false);
	pthread_mutex_unlock(&late->lock);
	quiet_wait();
	pthread_mutex_lock(&late->lock);
	if (connection < 0)
		late_settle(late);
	ethdev_read_counters(dev, &late->past);
	ethdev_destroy(dev);
}

static void late_serve(struct ethdev_late *late, struct ethdev *dev)
{
	int connection;

	if (!late_create(late, dev)) {
		// DPDK loses a little memory in each probe that fails, so they become rare.
		late_pause(late, late->failures < LATE_TELL ? LATE_RETRY_MS : LATE_RARE_MS);
		return;
	}
	connection = late_connection(late);
	late->up = true;
	late_let_in(dev, true);
	pthread_cond_broadcast(&late->changed);
	port_note(late->port, "the peer at %s is there", late->options.socket);
	while (late_pause(late, LATE_RETRY_MS) && late_peer_there(dev, connection))
		;
	if (!late->stopping)
		port_note(late->port, "the peer at %s has gone, waiting for it to come back",
			  late->options.socket);
	late_remove(late, dev, connection);
}

static void *late_main(void *arg)
{
	struct ethdev *dev = arg;
	struct ethdev_late *late = dev->late;

	pthread_mutex_lock(&late->lock);
	while (!late->stopping)
		late_serve(late, dev);
	late->ended = true;
	pthread_cond_broadcast(&late->changed);
	pthread_mutex_unlock(&late->lock);
	return NULL;
}

static void late_free(struct ethdev_late *late)
{
	pthread_cond_destroy(&late->changed);
	pthread_mutex_destroy(&late->lock);
	free((char *)late->options.devargs);
	free((char *)late->options.socket);
	free(late);
}

static int late_start(struct ethdev *dev)
{
	sigset_t all;
	sigset_t before;
	int code;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	code = pthread_create(&dev->late->thread, NULL, late_main, dev);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!code)
		pthread_setname_np(dev->late->thread, "sluice-peer");
	return code;
}

int ethdev_late_open(struct port *port, struct ethdev *dev, const struct ethdev_options *options,
		     struct errors *errors)
{
	struct ethdev_late *late;
	pthread_condattr_t monotonic;
	struct timespec at;
	int code;

	if (options->server && socket_claim(port, options->socket, errors))
		return -1;
	late = memory_new(1, sizeof(*late));
	dev->late = late;
	late->port = port;
	late->options = *options;
	late->options.devargs = strdup(options->devargs);
	late->options.socket = strdup(options->socket);
	pthread_mutex_init(&late->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&late->changed, &monotonic);
	pthread_condattr_destroy(&monotonic);
	code = late_start(dev);
	if (code) {
		error_machine(errors, NULL, "no thread for the port: %s", strerror(code));
		late_free(late);
		dev->late = NULL;
		return -1;
	}
	// A peer that is there is worth a moment: the first packets then find it.
	late_deadline(&at, late_is_socket(options->socket) ? options->patience_ms : 0);
	pthread_mutex_lock(&late->lock);
	while (!late->up && pthread_cond_timedwait(&late->changed, &late->lock, &at) == 0)
		;
	if (!late->up)
		port_note(port, "waiting for a peer at %s", options->socket);
	pthread_mutex_unlock(&late->lock);
	return 0;
}

// A probe that waits for a peer ends when somebody connects and leaves at once.
static void late_knock(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return;
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	// Whether anyone answers does not matter: the knock is all.
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)))
		errno = 0;
	close(fd);
}

bool ethdev_late_close(struct ethdev *dev)
{
	struct ethdev_late *late = dev->late;
	pid_t pid = 0;
	bool ended;

	pthread_mutex_lock(&late->lock);
	late->stopping = true;
	pthread_cond_broadcast(&late->changed);
	for (unsigned ms = 0; !late->ended && ms < LATE_CLOSE_MS; ms += LATE_RETRY_MS) {
		struct timespec at;

		if (late->probes && late->options.server) {
			pthread_mutex_unlock(&late->lock);
			late_knock(late->options.socket);
			pthread_mutex_lock(&late->lock);
		}
		late_deadline(&at, LATE_RETRY_MS);
		while (!late->ended &&
		       pthread_cond_timedwait(&late->changed, &late->lock, &at) == 0)
			;
	}
	ended = late->ended;
	pthread_mutex_unlock(&late->lock);
	if (!ended) {
		// A peer that has connected and does not answer: the thread waits for it inside
		// DPDK, and ends with the process.
		pthread_detach(late->thread);
		return false;
	}
	pthread_join(late->thread, NULL);
	// A probe that was ended leaves its socket behind.
	if (late->options.server && socket_probe(late->options.socket, &pid) == SOCKET_STALE)
		unlink(late->options.socket);
	late_free(late);
	dev->late = NULL;
	return true;
}

void ethdev_late_counters(struct ethdev *dev, struct port_counters *counters)
{
	struct ethdev_late *late = dev->late;

	pthread_mutex_lock(&late->lock);
	*counters = late->past;
	if (late->up)
		ethdev_read_counters(dev, counters);
	pthread_mutex_unlock(&late->lock);
}

enum port_link ethdev_late_link(struct ethdev *dev)
{
	struct ethdev_late *late = dev->late;
	bool up;

	pthread_mutex_lock(&late->lock);
	up = late->up;
	pthread_mutex_unlock(&late->lock);
	return up ? PORT_UP : PORT_DOWN;
}
