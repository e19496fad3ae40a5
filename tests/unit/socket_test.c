// SPDX-License-Identifier: BSD-3-Clause
// Who serves a socket, and claiming one.

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "driver.h"
#include "port/socket.h"
#include "port_rig.h"
#include "suite.h"
#include "value/errors.h"

static struct port port = {.name = "test"};

static const char *path_of(const char *name)
{
	static char path[200];

	snprintf(path, sizeof(path), "%s/%s", rig_folder(), name);
	return path;
}

static int serve(const char *path, int kind, bool listens)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, kind | SOCK_CLOEXEC, 0);

	strcpy(address.sun_path, path);
	CU_ASSERT(!bind(fd, (struct sockaddr *)&address, sizeof(address)));
	if (listens)
		CU_ASSERT(!listen(fd, 1));
	return fd;
}

static void claim(const char *path, int code, const char *text)
{
	struct errors *errors = errors_new();
	char *all;

	CU_ASSERT_EQUAL(socket_claim(&port, path, errors), code ? -1 : 0);
	CU_ASSERT_EQUAL(errors_exit_code(errors), code);
	all = errors_text(errors);
	if (!strstr(all, text)) {
		printf("\n    it says: %s    and not: %s\n    ", all, text);
		CU_FAIL("another message");
	}
	free(all);
	errors_free(errors);
}

static void test_absent(void)
{
	claim(path_of("absent"), 0, "");
}

static void test_live(void)
{
	static const int kinds[] = {SOCK_STREAM, SOCK_SEQPACKET};

	for (unsigned i = 0; i < 2; i++) {
		const char *path = path_of("live");
		pid_t pid = 0;
		int fd = serve(path, kinds[i], true);

		// More often than its backlog holds.
		for (unsigned j = 0; j < 5; j++)
			CU_ASSERT_EQUAL(socket_probe(path, &pid), SOCKET_LIVE);
		CU_ASSERT_EQUAL(pid, getpid());
		claim(path, 3, "is served by");
		CU_ASSERT(!access(path, F_OK));
		close(fd);
		CU_ASSERT_EQUAL(socket_probe(path, &pid), SOCKET_STALE);
		claim(path, 0, "");
		CU_ASSERT(access(path, F_OK) != 0);
	}
}

// A server of another process, which then dies.
static void test_other_process(void)
{
	const char *path = path_of("other");
	char text[64];
	int ready[2];
	char byte;
	pid_t child;

	CU_ASSERT_FATAL(!pipe(ready));
	child = fork();
	if (!child) {
		struct sockaddr_un address = {.sun_family = AF_UNIX};
		int fd = socket(AF_UNIX, SOCK_STREAM, 0);

		strcpy(address.sun_path, path);
		if (bind(fd, (struct sockaddr *)&address, sizeof(address)) || listen(fd, 1))
			_exit(1);
		if (write(ready[1], "x", 1) != 1)
			_exit(1);
		pause();
		_exit(0);
	}
	CU_ASSERT_EQUAL(read(ready[0], &byte, 1), 1);
	snprintf(text, sizeof(text), "is served by process %d", (int)child);
	claim(path, 3, text);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	claim(path, 0, "");
	CU_ASSERT(access(path, F_OK) != 0);
	close(ready[0]);
	close(ready[1]);
}

static void test_refusals(void)
{
	char longer[150];
	const char *path;
	FILE *file;

	memset(longer, 'x', sizeof(longer) - 1);
	longer[0] = '/';
	longer[sizeof(longer) - 1] = '\0';
	claim("", 2, "must not be empty");
	claim(longer, 2, "has 149 characters, at most 107 are possible");
	claim("/no/such/folder/socket", 3, "the folder /no/such/folder of the socket");
	path = path_of("file");
	file = fopen(path, "w");
	CU_ASSERT_FATAL(file != NULL);
	fclose(file);
	claim(path, 3, "is in the way of a socket and is no socket");
	CU_ASSERT(!access(path, F_OK));
	unlink(path);
	claim(rig_folder(), 3, "is no socket");
}

static void test_rights(void)
{
	if (!getuid()) {
		test_skip("root may do anything");
		return;
	}
	claim("/proc/socket", 3, "no permission to create the socket /proc/socket");
}

static const CU_TestInfo cases[] = {
    {"nothing there", test_absent},
    {"live, then stale", test_live},
    {"of another process that dies", test_other_process},
    {"refusals", test_refusals},
    {"no permission", test_rights},
    CU_TEST_INFO_NULL,
};
SUITE(socket, cases)
