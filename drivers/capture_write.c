// SPDX-License-Identifier: BSD-3-Clause
// Writes captures through libpcap, with nanosecond times and whole packets. A write that fails is
// noticed and explained, and leaves a file that ends behind a whole packet.

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <pcap/pcap.h>

#include "capture.h"

#define CAPTURE_BUFFER (256 << 10)
#define CAPTURE_GRACE_MS 1000  // for a reader that takes nothing, once we were asked to stop
#define CAPTURE_PIPE_PART 4096 // a pipe that can be written takes so much without waiting

struct capture_out {
	const char *path;
	int fd; // -1: a named pipe without a reader yet
	int stop_fd;
	bool stream;
	bool own; // a regular file that was emptied here
	bool failed;
	uint64_t written; // bytes that went to the file
	uint64_t good;	  // of which so many are whole packets
	char *buffer;
	pcap_t *pcap;
	pcap_dumper_t *dumper;
	struct capture_problem problem;
};

static void capture_out_fail(struct capture_out *out, const char *reason)
{
	if (out->failed)
		return;
	out->failed = true;
	capture_problem_set(&out->problem, true, "cannot write \"%s\": %s", out->path, reason);
}

// Waits until a pipe takes something. After stop_fd became readable it waits on only for a while.
static bool capture_out_wait(struct capture_out *out)
{
	struct pollfd fds[] = {{.fd = out->fd, .events = POLLOUT},
			       {.fd = out->stop_fd, .events = POLLIN}};
	int got;

	do {
		bool stopping = fds[1].revents;

		got = poll(fds, stopping ? 1 : 2, stopping ? CAPTURE_GRACE_MS : -1);
		if (got == 0) {
			capture_out_fail(out, "its reader takes nothing");
			return false;
		}
	} while ((got < 0 && errno == EINTR) || (got > 0 && !fds[0].revents));
	return true;
}

static ssize_t capture_out_put(void *out_, const char *buf, size_t n)
{
	struct capture_out *out = out_;
	size_t at = 0;

	while (at < n && !out->failed) {
		size_t part = n - at;
		ssize_t put;

		if (out->stream && !capture_out_wait(out))
			break;
		if (out->stream && part > CAPTURE_PIPE_PART)
			part = CAPTURE_PIPE_PART;
		put = write(out->fd, buf + at, part);
		if (put > 0) {
			at += put;
			out->written += put;
		} else if (put < 0 && errno != EINTR && errno != EAGAIN) {
			capture_out_fail(out,
					 errno == EPIPE ? "its reader is gone" : strerror(errno));
		}
	}
	return out->failed ? 0 : n;
}

// Starts the capture in the open file: its header is written at once, so that an early fault shows
// and a file without packets is a good capture.
static int capture_out_begin(struct capture_out *out)
{
	cookie_io_functions_t functions = {.write = capture_out_put};
	FILE *file = fopencookie(out, "w", functions);

	if (file)
		setvbuf(file, out->buffer, _IOFBF, CAPTURE_BUFFER);
	out->pcap = pcap_open_dead_with_tstamp_precision(DLT_EN10MB, CAPTURE_LENGTH_MAX,
							 PCAP_TSTAMP_PRECISION_NANO);
	if (file && out->pcap)
		out->dumper = pcap_dump_fopen(out->pcap, file);
	if (!out->dumper) {
		if (file && !out->pcap)
			fclose(file);
		capture_out_fail(out, out->pcap ? pcap_geterr(out->pcap) : "no memory");
		return -1;
	}
	return capture_out_flush(out);
}

// Takes an existing or new file for this port alone before it is emptied.
static int capture_out_take(struct capture_out *out)
{
	if (out->stream)
		return 0;
	if (flock(out->fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK) {
		capture_out_fail(out, "a port of this or another program reads or writes it");
		return -1;
	}
	if (ftruncate(out->fd, 0)) {
		capture_out_fail(out, strerror(errno));
		return -1;
	}
	out->own = true;
	return 0;
}

static int capture_out_file(struct capture_out *out)
{
	struct stat about;
	bool standard = !strcmp(out->path, "-");

	if (standard && isatty(STDOUT_FILENO)) {
		capture_out_fail(out, "standard output is a terminal");
		out->problem.machine = false;
		return -1;
	}
	if (!standard && !stat(out->path, &about) && S_ISFIFO(about.st_mode)) {
		out->stream = true; // opened when a reader comes: see capture_out_ready()
		return 0;
	}
	out->fd = standard ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)
			   : open(out->path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
	if (out->fd < 0 || fstat(out->fd, &about)) {
		int error = errno;

		capture_out_fail(out,
				 error == ENOENT ? "its folder does not exist" : strerror(error));
		out->problem.machine =
		    error != ENOENT && error != EISDIR && error != ENOTDIR && error != ENAMETOOLONG;
		return -1;
	}
	if (S_ISBLK(about.st_mode)) {
		capture_out_fail(out, "it is a disk");
		out->problem.machine = false;
		return -1;
	}
	out->stream = !S_ISREG(about.st_mode);
	return standard ? 0 : capture_out_take(out);
}

struct capture_out *capture_out_open(const char *path, int stop_fd, struct capture_problem *problem)
{
	struct capture_out *out = calloc(1, sizeof(*out));

	if (out)
		out->buffer = malloc(CAPTURE_BUFFER);
	if (!out || !out->buffer) {
		capture_problem_set(problem, true, "no memory to write \"%s\"", path);
		free(out);
		return NULL;
	}
	out->path = path;
	out->fd = -1;
	out->stop_fd = stop_fd;
	if (capture_out_file(out) || (out->fd >= 0 && !out->stream && capture_out_begin(out))) {
		*problem = out->problem;
		capture_out_close(out);
		return NULL;
	}
	return out;
}

bool capture_out_ready(struct capture_out *out)
{
	if (out->dumper || out->failed)
		return true;
	if (out->fd < 0) {
		out->fd = open(out->path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
		if (out->fd < 0 && errno == ENXIO)
			return false;
	}
	if (out->fd < 0)
		capture_out_fail(out, strerror(errno));
	else
		capture_out_begin(out);
	return true;
}

int capture_out_write(struct capture_out *out, uint64_t time_ns, const uint8_t *bytes,
		      uint32_t length)
{
	struct pcap_pkthdr header = {
	    .ts = {.tv_sec = time_ns / 1000000000, .tv_usec = time_ns % 1000000000},
	    .caplen = length,
	    .len = length,
	};

	if (out->failed)
		return -1;
	pcap_dump((u_char *)out->dumper, &header, bytes);
	return out->failed ? -1 : 0;
}

int capture_out_flush(struct capture_out *out)
{
	if (!out->failed && pcap_dump_flush(out->dumper))
		capture_out_fail(out, strerror(errno));
	if (!out->failed)
		out->good = out->written;
	return out->failed ? -1 : 0;
}

void capture_out_close(struct capture_out *out)
{
	if (!out)
		return;
	if (out->dumper)
		pcap_dump_close(out->dumper);
	if (out->pcap)
		pcap_close(out->pcap);
	// A half packet at the end would make the whole capture look damaged. Where that does not
	// work either, the fault has been reported already.
	if (out->own && out->failed && out->written > out->good && ftruncate(out->fd, out->good))
		out->failed = true;
	if (out->fd >= 0)
		close(out->fd);
	free(out->buffer);
	free(out);
}

bool capture_out_is_stream(const struct capture_out *out)
{
	return out->stream;
}

const struct capture_problem *capture_out_problem(const struct capture_out *out)
{
	return &out->problem;
}
