// SPDX-License-Identifier: BSD-3-Clause
// memif, both ends in one process: frames both ways, zero copy, ends that come late, go and come
// back, peers that are turned away.

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "port_rig.h"
#include "suite.h"

static struct rig server;
static struct rig client;

static const char *memif_path(const char *name)
{
	static char path[108];

	snprintf(path, sizeof(path), "%s/%s", rig_folder(), name);
	return path;
}

static bool end_open(struct rig *rig, const char *role, const char *name, const char *more)
{
	char params[256];

	snprintf(params, sizeof(params), "{path: %s, role: %s%s}", memif_path(name), role, more);
	return rig_open(rig, "memif", params, 1);
}

static void both_up(void)
{
	CU_ASSERT(rig_wait_link(&client, PORT_UP));
	CU_ASSERT(rig_wait_link(&server, PORT_UP));
}

static void test_copy(void)
{
	CU_ASSERT(end_open(&server, "server", "copy", ""));
	CU_ASSERT(end_open(&client, "client", "copy", ""));
	both_up();
	CU_ASSERT(rig_passes(&client, &server, 16000));
	CU_ASSERT(rig_passes(&server, &client, 16000));
	rig_close(&client);
	CU_ASSERT(rig_wait_link(&server, PORT_DOWN));
	CU_ASSERT_EQUAL(rig_packets_out(), 0);
	rig_close(&server);
	CU_ASSERT(access(memif_path("copy"), F_OK) != 0);
}

static void test_small_buffers(void)
{
	CU_ASSERT(end_open(&server, "server", "small", ""));
	CU_ASSERT(end_open(&client, "client", "small", ", buffer_size: 128, ring_size: 256"));
	both_up();
	CU_ASSERT(rig_passes(&client, &server, 9014));
	CU_ASSERT(rig_passes(&server, &client, 9014));
	rig_close(&client);
	rig_close(&server);
}

static void test_come_and_go(void)
{
	CU_ASSERT(end_open(&client, "client", "go", ""));
	CU_ASSERT_EQUAL(client.port.driver->link(&client.port), PORT_DOWN);
	for (unsigned i = 0; i < 3; i++) {
		CU_ASSERT(end_open(&server, "server", "go", ""));
		both_up();
		CU_ASSERT(rig_passes(&client, &server, 1514));
		CU_ASSERT(rig_passes(&server, &client, 1514));
		rig_close(&server);
		CU_ASSERT(rig_wait_link(&client, PORT_DOWN));
	}
	CU_ASSERT(end_open(&server, "server", "go", ""));
	for (unsigned i = 0; i < 3; i++) {
		both_up();
		CU_ASSERT(rig_passes(&client, &server, 1514));
		rig_close(&client);
		CU_ASSERT(rig_wait_link(&server, PORT_DOWN));
		CU_ASSERT(end_open(&client, "client", "go", ""));
	}
	rig_close(&client);
	CU_ASSERT_EQUAL(rig_packets_out(), 0);
	rig_close(&server);
}

static void test_zero_copy(void)
{
	CU_ASSERT(end_open(&server, "server", "zero", ""));
	CU_ASSERT(end_open(&client, "client", "zero", ", zero_copy: true, ring_size: 256"));
	for (unsigned i = 0; i < 3; i++) {
		both_up();
		CU_ASSERT(rig_passes(&client, &server, 9014));
		CU_ASSERT(rig_passes(&server, &client, 9014));
		CU_ASSERT(rig_passes(&client, &server, 9014));
		rig_close(&server);
		CU_ASSERT(rig_wait_link(&client, PORT_DOWN));
		CU_ASSERT_EQUAL(rig_packets_out(), 0);
		CU_ASSERT(end_open(&server, "server", "zero", ""));
	}
	both_up();
	CU_ASSERT(rig_passes(&client, &server, 1514));
	rig_close(&client);
	CU_ASSERT_EQUAL(rig_packets_out(), 0);
	rig_close(&server);
}

static void test_abstract(void)
{
	CU_ASSERT(end_open(&server, "server", "abstract", ", abstract: true"));
	CU_ASSERT(end_open(&client, "client", "abstract", ", abstract: true, secret: sesame"));
	CU_ASSERT(access(memif_path("abstract"), F_OK) != 0);
	both_up();
	CU_ASSERT(rig_passes(&client, &server, 1514));
	rig_close(&client);
	rig_close(&server);
}

static void test_refusals(void)
{
	CU_ASSERT(!end_open(&server, "server", "no", ", zero_copy: true"));
	CU_ASSERT(rig_says(&server, "a server cannot do without copies"));
	rig_close(&server);
	CU_ASSERT(!end_open(&server, "client", "no", ", ring_size: 1000"));
	CU_ASSERT(rig_says(&server, "1000 is not a power of two"));
	rig_close(&server);
	CU_ASSERT(!rig_open(&server, "memif", "{path: /no/such/x, role: server}", 1));
	CU_ASSERT(rig_says(&server, "the folder /no/such"));
	rig_close(&server);
	CU_ASSERT(!rig_open(&server, "memif", "{path: /tmp/x}", 1));
	CU_ASSERT(rig_says(&server, "role"));
	rig_close(&server);
}

static const CU_TestInfo cases[] = {
    {"frames both ways", test_copy},
    {"frames in many small buffers", test_small_buffers},
    {"ends come late, go and come back", test_come_and_go},
    {"zero copy", test_zero_copy},
    {"abstract socket and a secret", test_abstract},
    {"refusals", test_refusals},
    CU_TEST_INFO_NULL,
};
SUITE(memif, cases, .eal = true)
