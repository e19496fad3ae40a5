// SPDX-License-Identifier: BSD-3-Clause
// The driver `pcap` at named pipes, whose other end comes late, goes early or never comes.

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "captures.h"
#include "ports.h"
#include "suite.h"

static void put(int fd, struct capture *capture)
{
	CU_ASSERT_EQUAL(write(fd, capture->bytes, capture->n), (ssize_t)capture->n);
	free(capture->bytes);
	*capture = (struct capture){0};
}

static const char *pipe_new(const char *name)
{
	const char *path = capture_path(name);

	unlink(path);
	CU_ASSERT_EQUAL_FATAL(mkfifo(path, 0600), 0);
	return path;
}

// Each packet of a pipe comes as soon as it is there; the end comes when the writer closes.
static void test_pipe_in(void)
{
	struct capture capture = {0};
	struct test_port test;
	struct rte_mbuf *pkt;
	const char *path = pipe_new("in");
	int fd;

	CU_ASSERT_TRUE_FATAL(capture_open_rx(&test, path, "", false));
	CU_ASSERT_TRUE(test.port.driver->progress(&test.port) < 0);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	CU_ASSERT_TRUE_FATAL(fd >= 0);
	capture_head(&capture, MAGIC_NANO, 4, 65535, 1);
	for (unsigned i = 0; i < 3; i++) {
		capture_packet(&capture, 1, 0, 80 + i, i);
		put(fd, &capture);
		CU_ASSERT_EQUAL_FATAL(test_port_receive(&test, &pkt, 1), 1);
		CU_ASSERT_TRUE(test_packet_is(pkt, 80 + i, i));
		rte_pktmbuf_free(pkt);
	}
	CU_ASSERT_FALSE(port_ended(&test.port));
	close(fd);
	CU_ASSERT_EQUAL(test_port_receive(&test, &pkt, 1), 0);
	CU_ASSERT_TRUE(port_ended(&test.port));
	CU_ASSERT_EQUAL(test.n_faults, 0);
	test_port_close(&test);
}

static void test_pipe_in_bad(void)
{
	struct capture capture = {0};
	struct test_port test;
	struct rte_mbuf *pkt;
	const char *path = pipe_new("in");
	int fd;

	// Another link type is a fault here, since the port is open already.
	CU_ASSERT_TRUE_FATAL(capture_open_rx(&test, path, "", false));
	fd = open(path, O_WRONLY | O_CLOEXEC);
	capture_head(&capture, MAGIC_NANO, 4, 65535, 113);
	put(fd, &capture);
	CU_ASSERT_EQUAL(test_port_receive(&test, &pkt, 1), 0);
	CU_ASSERT_TRUE(port_ended(&test.port));
	CU_ASSERT_EQUAL(test.n_faults, 1);
	CU_ASSERT_PTR_NOT_NULL(strstr(test.fault, "link type 113"));
	close(fd);
	test_port_close(&test);

	// Stopped before anybody came, and while a header is half there.
	CU_ASSERT_TRUE_FATAL(capture_open_rx(&test, path, "", false));
	test_port_close(&test);
	CU_ASSERT_TRUE_FATAL(capture_open_rx(&test, path, "", false));
	fd = open(path, O_WRONLY | O_CLOEXEC);
	capture_head(&capture, MAGIC_NANO, 4, 65535, 1);
	capture.n = 10;
	put(fd, &capture);
	test_port_close(&test);
	CU_ASSERT_EQUAL(test.n_faults, 0);
	close(fd);

	// What a pipe cannot do.
	CU_ASSERT_FALSE(capture_open_rx(&test, path, ", loop: 2", false));
	CU_ASSERT_PTR_NOT_NULL(strstr(test_port_errors(&test), "it can be read only once"));
	test_port_close(&test);
	CU_ASSERT_FALSE(capture_open_rx(&test, path, "", true));
	test_port_close(&test);
}

static bool open_tx(struct test_port *test, const char *path)
{
	char params[256];

	snprintf(params, sizeof(params), "{tx: \"%s\"}", path);
	return test_port_open(test, "pcap", params, 0, 1, false);
}

static bool all_left(void *test_)
{
	struct test_port *test = test_;

	return !test->port.driver->unsent(&test->port);
}

static void test_pipe_out(void)
{
	struct test_port test;
	struct rte_mbuf *pkt = test_packet(60, 2048, 0);
	const char *path = pipe_new("out");
	uint8_t bytes[24 + 16 + 60];
	size_t got = 0;
	int fd;

	CU_ASSERT_TRUE_FATAL(open_tx(&test, path));
	CU_ASSERT_EQUAL(test.port.tx(test.port.tx_queue[0], &pkt, 1), 1);
	CU_ASSERT_FALSE(all_left(&test)); // nobody reads yet
	fd = open(path, O_RDONLY | O_CLOEXEC);
	CU_ASSERT_TRUE_FATAL(fd >= 0);
	while (got < sizeof(bytes)) {
		ssize_t n = read(fd, bytes + got, sizeof(bytes) - got);

		CU_ASSERT_TRUE_FATAL(n > 0);
		got += n;
	}
	CU_ASSERT_EQUAL(bytes[0], 0x4d);
	CU_ASSERT_EQUAL(bytes[24 + 16 + 5], 5);
	CU_ASSERT_TRUE(test_wait(all_left, &test));

	// The reader goes: no signal, but a fault.
	close(fd);
	pkt = test_packet(60, 2048, 0);
	CU_ASSERT_EQUAL(test.port.tx(test.port.tx_queue[0], &pkt, 1), 1);
	CU_ASSERT_TRUE(test_wait(all_left, &test));
	test_port_close(&test);
	CU_ASSERT_EQUAL(test.n_faults, 1);
	CU_ASSERT_PTR_NOT_NULL(strstr(test.fault, "out\": its reader is gone"));
	CU_ASSERT_EQUAL(test_pool_out(), 0);
}

static void test_pipe_out_bad(void)
{
	struct test_port test;
	struct rte_mbuf *pkt = test_packet(60, 2048, 0);
	const char *path = pipe_new("out");
	int fd;

	// Nobody ever comes.
	CU_ASSERT_TRUE_FATAL(open_tx(&test, path));
	test_port_close(&test);
	CU_ASSERT_EQUAL(test.n_faults, 0);
	CU_ASSERT_TRUE_FATAL(open_tx(&test, path));
	CU_ASSERT_EQUAL(test.port.tx(test.port.tx_queue[0], &pkt, 1), 1);
	test.port.driver->stop(&test.port);
	test_port_close(&test);
	CU_ASSERT_EQUAL(test.n_faults, 1);
	CU_ASSERT_PTR_NOT_NULL(strstr(test.fault, "nobody came to read the pipe"));

	// Somebody who reads nothing does not hold us for ever.
	CU_ASSERT_TRUE_FATAL(open_tx(&test, path));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	for (unsigned i = 0; i < 100; i++) {
		pkt = test_packet(2000, 2048, 0);
		CU_ASSERT_EQUAL(test.port.tx(test.port.tx_queue[0], &pkt, 1), 1);
	}
	test_port_close(&test);
	CU_ASSERT_EQUAL(test.n_faults, 1);
	CU_ASSERT_PTR_NOT_NULL(strstr(test.fault, "its reader takes nothing"));
	close(fd);
	CU_ASSERT_EQUAL(test_pool_out(), 0);
}

static const CU_TestInfo pcap_pipe_cases[] = {
    {"reading a pipe", test_pipe_in},
    {"reading a pipe in vain", test_pipe_in_bad},
    {"writing a pipe", test_pipe_out},
    {"writing a pipe in vain", test_pipe_out_bad},
    CU_TEST_INFO_NULL,
};
SUITE(pcap_pipe, pcap_pipe_cases, .eal = true)
