// SPDX-License-Identifier: BSD-3-Clause
// The harness of ports.h. The program is linked with --wrap for the three calls by which drivers
// reach the core, so that ports of the harness get answers here and all others get the core's.

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <rte_mempool.h>

#include "graph/graph.h"
#include "ports.h"
#include "suite.h"
#include "value/table.h"

static pthread_mutex_t ports_lock = PTHREAD_MUTEX_INITIALIZER;
static struct test_port *ports;

void __wrap_port_fault(struct port *, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void __wrap_port_note(struct port *, const char *format, ...) __attribute__((format(printf, 2, 3)));
uint64_t __wrap_port_now_ns(const struct port *);
void __real_port_fault(struct port *, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void __real_port_note(struct port *, const char *format, ...) __attribute__((format(printf, 2, 3)));
uint64_t __real_port_now_ns(const struct port *);

static struct test_port *port_find(const struct port *port)
{
	struct test_port *at = ports;

	while (at && &at->port != port)
		at = at->next;
	return at;
}

void __wrap_port_fault(struct port *port, const char *format, ...)
{
	char text[1024];
	struct test_port *test;
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	pthread_mutex_lock(&ports_lock);
	test = port_find(port);
	if (test) {
		test->n_faults++;
		memcpy(test->fault, text, sizeof(text));
	}
	pthread_mutex_unlock(&ports_lock);
	if (!test)
		__real_port_fault(port, "%s", text);
}

void __wrap_port_note(struct port *port, const char *format, ...)
{
	char text[1024];
	struct test_port *test;
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	pthread_mutex_lock(&ports_lock);
	test = port_find(port);
	if (test) {
		test->n_notes++;
		memcpy(test->note, text, sizeof(text));
	}
	pthread_mutex_unlock(&ports_lock);
	if (!test)
		__real_port_note(port, "%s", text);
}

uint64_t __wrap_port_now_ns(const struct port *port)
{
	bool test;

	pthread_mutex_lock(&ports_lock);
	test = port_find(port);
	pthread_mutex_unlock(&ports_lock);
	return test ? UINT64_C(1700000000123456789) : __real_port_now_ns(port);
}

unsigned test_port_faults(const struct test_port *test)
{
	unsigned n;

	pthread_mutex_lock(&ports_lock);
	n = test->n_faults;
	pthread_mutex_unlock(&ports_lock);
	return n;
}

struct rte_mempool *test_pool(void)
{
	static struct rte_mempool *pool;

	if (!pool)
		pool = rte_pktmbuf_pool_create("test", TEST_BUFFERS, 64, 0,
					       2048 + RTE_PKTMBUF_HEADROOM, SOCKET_ID_ANY);
	if (!pool)
		abort();
	return pool;
}

unsigned test_pool_out(void)
{
	return rte_mempool_in_use_count(test_pool());
}

static const struct driver_type *port_fill(struct test_port *test, const char *driver,
					   const char *params)
{
	const struct driver_type *type = driver_find(driver);
	struct place place = {.file = "test"};
	struct value *value;

	if (!type)
		abort();
	memset(test, 0, sizeof(*test));
	test->arena = arena_new();
	test->errors = errors_new();
	test->port.driver = type;
	value = yaml_read_text(test->arena, "test", params, strlen(params), test->errors);
	if (value)
		test->port.params =
		    table_fill(test->arena, type->params, driver, place, value, NULL, test->errors);
	errors_about(test->errors, &(struct subject){.place = place, .written = value});
	if (test->port.params && type->check)
		type->check(test->port.params, test->errors);
	return type;
}

bool test_port_check(struct test_port *test, const char *driver, const char *params)
{
	port_fill(test, driver, params);
	return !errors_count(test->errors);
}

static bool port_open_with(struct test_port *test, const char *name, const char *driver,
			   const char *params, unsigned rx_queues, unsigned tx_queues, bool replay)
{
	const struct driver_type *type = port_fill(test, driver, params);
	struct port *port = &test->port;

	if (errors_count(test->errors))
		return false;
	port->name = name;
	port->rx_queues = rx_queues;
	port->tx_queues = tx_queues;
	port->burst = 32;
	port->pool = test_pool();
	port->dpdk_name = "test_p0";
	port->replay = replay;
	port->state = calloc(1, type->state_size);
	pthread_mutex_lock(&ports_lock);
	test->next = ports;
	ports = test;
	pthread_mutex_unlock(&ports_lock);
	return !type->open(port, test->errors) && !errors_count(test->errors);
}

bool test_port_open(struct test_port *test, const char *driver, const char *params,
		    unsigned rx_queues, unsigned tx_queues, bool replay)
{
	return port_open_with(test, "p0", driver, params, rx_queues, tx_queues, replay);
}

bool test_port_open_as(struct test_port *test, const char *name, const char *driver,
		       const char *params, unsigned rx_queues, unsigned tx_queues)
{
	return port_open_with(test, name, driver, params, rx_queues, tx_queues, false);
}

void test_port_close(struct test_port *test)
{
	struct test_port **at = &ports;

	// As the core does, also after a failed open.
	if (test->port.state) {
		test_port_counters(test);
		test->port.driver->close(&test->port);
	}
	pthread_mutex_lock(&ports_lock);
	while (*at && *at != test)
		at = &(*at)->next;
	if (*at)
		*at = test->next;
	pthread_mutex_unlock(&ports_lock);
	free(test->port.state);
	free(test->text);
	errors_free(test->errors);
	arena_free(test->arena);
}

const char *test_port_errors(struct test_port *test)
{
	free(test->text);
	test->text = errors_text(test->errors);
	return test->text;
}

static uint64_t test_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * UINT64_C(1000) + now.tv_nsec / 1000000;
}

unsigned test_port_receive(struct test_port *test, struct rte_mbuf **pkts, unsigned n)
{
	uint64_t until = test_ms() + 20000;
	unsigned got = 0;

	while (got < n && test_ms() < until) {
		uint16_t now =
		    test->port.rx(test->port.rx_queue[0], pkts + got, RTE_MIN(n - got, 32u));

		got += now;
		if (!now && port_ended(&test->port))
			break;
		if (!now)
			usleep(50);
	}
	return got;
}

struct rte_mbuf *test_packet(uint32_t length, uint32_t segment, uint8_t seed)
{
	struct rte_mbuf *head = NULL, **end = &head;
	uint32_t at = 0;

	do {
		uint32_t part = RTE_MIN(length - at, segment);
		struct rte_mbuf *pkt = rte_pktmbuf_alloc(test_pool());

		if (!pkt)
			abort();
		for (uint32_t i = 0; i < part; i++)
			rte_pktmbuf_mtod(pkt, uint8_t *)[i] = seed + at + i;
		pkt->data_len = part;
		at += part;
		*end = pkt;
		end = &pkt->next;
		if (pkt != head)
			head->nb_segs++;
	} while (at < length);
	head->pkt_len = length;
	return head;
}

bool test_packet_is(const struct rte_mbuf *pkt, uint32_t length, uint8_t seed)
{
	const char *why;
	uint32_t at = 0;

	if (rte_mbuf_check(pkt, 1, &why) || pkt->pkt_len != length)
		return false;
	for (; pkt; pkt = pkt->next)
		for (uint32_t i = 0; i < pkt->data_len; i++, at++)
			if (rte_pktmbuf_mtod(pkt, uint8_t *)[i] != (uint8_t)(seed + at))
				return false;
	return true;
}

bool test_wait(bool (*holds)(void *), void *what)
{
	uint64_t until = test_ms() + 20000;

	while (!holds(what)) {
		if (test_ms() > until)
			return false;
		usleep(200);
	}
	return true;
}

struct port_counters test_port_counters(struct test_port *test)
{
	struct port_counters counters = {0};

	test->port.driver->counters(&test->port, &counters);
	return counters;
}
