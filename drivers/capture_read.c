// SPDX-License-Identifier: BSD-3-Clause
// Reads captures: libpcap knows the formats, and gets its bytes through a stream of our own, so
// that reading a pipe can be stopped, and its terse messages become sentences.

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <pcap/pcap.h>

#include "capture.h"
#include "capture_snap.h"
#include "capture_words.h"

#define CAPTURE_BUFFER (256 << 10)
#define CAPTURE_KEEP_MAX (64 << 20)

// A record that is kept in memory; the next one follows it, aligned to 8.
struct capture_kept {
	uint64_t time_ns;
	uint32_t length;
	uint32_t captured;
	uint8_t bytes[];
};

struct capture_in {
	const char *path;
	int fd;
	int stop_fd;
	bool stream;
	bool stopped; // a read gave up because of stop_fd
	uint64_t size;
	uint64_t offset;	    // bytes read; read by other threads
	uint8_t head[CAPTURE_HEAD]; // the first bytes, to name what is no capture
	uint64_t records;
	uint64_t shortened; // records that were captured in part
	int read_error;
	struct capture_snap snap;
	pcap_t *pcap; // NULL: not begun, or rewound
	char *buffer;
	struct capture_problem problem;

	bool keep;     // records go to `kept` on the first pass
	bool complete; // the whole file is there
	uint8_t *kept;
	size_t kept_bytes;
	size_t kept_room;
	size_t kept_at;
};

void capture_problem_set(struct capture_problem *problem, bool machine, const char *format, ...)
{
	va_list args;

	problem->machine = machine;
	va_start(args, format);
	vsnprintf(problem->text, sizeof(problem->text), format, args);
	va_end(args);
}

// Waits until a pipe has something. false: asked to stop.
static bool capture_in_wait(struct capture_in *in)
{
	struct pollfd fds[] = {{.fd = in->fd, .events = POLLIN},
			       {.fd = in->stop_fd, .events = POLLIN}};

	while (poll(fds, 2, -1) < 0)
		if (errno != EINTR)
			return true; // read() says what is wrong
	in->stopped = fds[1].revents;
	return !in->stopped;
}

static ssize_t capture_in_read(void *in_, char *buf, size_t n)
{
	struct capture_in *in = in_;
	ssize_t got;

	do {
		if (in->stream) {
			if (!capture_in_wait(in))
				return 0;
			got = read(in->fd, buf, n);
		} else {
			got = pread(in->fd, buf, n, in->offset);
		}
	} while (got < 0 && (errno == EINTR || errno == EAGAIN));
	if (got < 0)
		in->read_error = errno;
	for (ssize_t i = 0; i < got && in->offset + i < sizeof(in->head); i++)
		in->head[in->offset + i] = buf[i];
	if (got > 0)
		capture_snap_pass(&in->snap, (uint8_t *)buf, got);
	if (got > 0)
		__atomic_store_n(&in->offset, in->offset + got, __ATOMIC_RELAXED);
	return got;
}

// libpcap's reason why a file cannot be opened, in our words.
static void capture_explain_open(struct capture_in *in, const char *reason)
{
	if (in->read_error)
		capture_problem_set(&in->problem, true, "cannot read \"%s\": %s", in->path,
				    strerror(in->read_error));
	else if (!in->offset)
		capture_problem_set(&in->problem, false, "\"%s\" is empty, it is no capture",
				    in->path);
	else if (!strncmp(reason, "truncated dump file", 19))
		capture_problem_set(&in->problem, false,
				    "\"%s\" ends after %llu bytes, inside the header of a capture",
				    in->path, (unsigned long long)in->offset);
	else if (!strcmp(reason, "unknown file format"))
		capture_problem_set(&in->problem, false, "\"%s\" is no pcap or pcapng capture%s",
				    in->path, capture_words_kind(in->head));
	else
		capture_problem_set(&in->problem, false, "\"%s\" cannot be read as a capture: %s",
				    in->path, reason);
}

// Opens the file for libpcap, from its first byte on. 0, or -1 with the problem set.
static int capture_in_begin(struct capture_in *in)
{
	cookie_io_functions_t functions = {.read = capture_in_read};
	char reason[PCAP_ERRBUF_SIZE] = "", link[128];
	FILE *file = fopencookie(in, "r", functions);

	if (!file) {
		capture_problem_set(&in->problem, true, "cannot read \"%s\": %s", in->path,
				    strerror(errno));
		return -1;
	}
	capture_snap_restart(&in->snap);
	setvbuf(file, in->buffer, _IOFBF, CAPTURE_BUFFER);
	in->pcap =
	    pcap_fopen_offline_with_tstamp_precision(file, PCAP_TSTAMP_PRECISION_NANO, reason);
	if (!in->pcap) {
		fclose(file);
		capture_explain_open(in, reason);
		return -1;
	}
	if (pcap_datalink(in->pcap) != DLT_EN10MB) {
		capture_words_link(link, sizeof(link), pcap_datalink(in->pcap));
		capture_problem_set(&in->problem, false,
				    "\"%s\" holds packets of link type %s, not Ethernet (1)",
				    in->path, link);
		return -1;
	}
	return 0;
}

// Opens the file itself, and says what kind it is.
static int capture_in_file(struct capture_in *in)
{
	struct stat about;

	// A named pipe without a writer would make a plain open() wait.
	in->fd = strcmp(in->path, "-") ? open(in->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
				       : fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	if (in->fd < 0 || fstat(in->fd, &about)) {
		capture_problem_set(&in->problem, errno != ENOENT && errno != ENOTDIR,
				    "cannot read \"%s\": %s", in->path, strerror(errno));
		return -1;
	}
	if (S_ISDIR(about.st_mode) || S_ISBLK(about.st_mode)) {
		capture_problem_set(&in->problem, false, "\"%s\" is a %s, not a capture", in->path,
				    S_ISDIR(about.st_mode) ? "folder" : "disk");
		return -1;
	}
	in->stream = !S_ISREG(about.st_mode);
	in->size = about.st_size;
	// Writers lock what they write: see capture_write.c.
	if (!in->stream && flock(in->fd, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK) {
		capture_problem_set(&in->problem, true,
				    "\"%s\" is being written by a port of this or another program",
				    in->path);
		return -1;
	}
	return 0;
}

struct capture_in *capture_in_open(const char *path, int stop_fd, struct capture_problem *problem)
{
	struct capture_in *in = calloc(1, sizeof(*in));

	if (in)
		in->buffer = malloc(CAPTURE_BUFFER);
	if (!in || !in->buffer) {
		capture_problem_set(problem, true, "no memory to read \"%s\"", path);
		free(in);
		return NULL;
	}
	in->path = path;
	in->stop_fd = stop_fd;
	if (capture_in_file(in) || (!in->stream && capture_in_begin(in))) {
		*problem = in->problem;
		capture_in_close(in);
		return NULL;
	}
	return in;
}

void capture_in_close(struct capture_in *in)
{
	if (!in)
		return;
	if (in->pcap)
		pcap_close(in->pcap);
	if (in->fd >= 0)
		close(in->fd);
	free(in->buffer);
	free(in->kept);
	capture_snap_end(&in->snap);
	free(in);
}

// libpcap's reason why it stopped inside a file, in our words.
static void capture_explain(struct capture_in *in, const char *reason)
{
	unsigned long long at = in->records + 1;
	char what[256];

	if (in->read_error)
		snprintf(what, sizeof(what), "cannot be read on: %s", strerror(in->read_error));
	else
		capture_words_stop(what, sizeof(what), reason);
	capture_problem_set(&in->problem, false, "\"%s\": packet %llu: %s; %llu packets were read",
			    in->path, at, what, at - 1);
}

static void capture_keep(struct capture_in *in, const struct capture_record *record)
{
	size_t bytes = (sizeof(struct capture_kept) + record->captured + 7) / 8 * 8;
	struct capture_kept *kept;

	if (in->kept_bytes + bytes > in->kept_room) {
		size_t room = 2 * in->kept_room + bytes + 4096;
		uint8_t *more = room > CAPTURE_KEEP_MAX ? NULL : realloc(in->kept, room);

		if (!more) { // too large: the file is read again instead
			free(in->kept);
			in->kept = NULL;
			in->keep = false;
			return;
		}
		in->kept = more;
		in->kept_room = room;
	}
	kept = (struct capture_kept *)(in->kept + in->kept_bytes);
	kept->time_ns = record->time_ns;
	kept->length = record->length;
	kept->captured = record->captured;
	memcpy(kept->bytes, record->bytes, record->captured);
	in->kept_bytes += bytes;
}

static enum capture_answer capture_next_kept(struct capture_in *in, struct capture_record *record)
{
	const struct capture_kept *kept;

	if (in->kept_at == in->kept_bytes)
		return CAPTURE_END;
	kept = (const struct capture_kept *)(in->kept + in->kept_at);
	in->kept_at += (sizeof(*kept) + kept->captured + 7) / 8 * 8;
	in->records++;
	*record = (struct capture_record){.time_ns = kept->time_ns,
					  .length = kept->length,
					  .captured = kept->captured,
					  .bytes = kept->bytes};
	return CAPTURE_RECORD;
}

static enum capture_answer capture_next_read(struct capture_in *in, struct capture_record *record)
{
	struct pcap_pkthdr *header;
	const u_char *bytes;
	int got;

	if (!in->pcap && capture_in_begin(in))
		return in->stopped ? CAPTURE_STOPPED : CAPTURE_BAD;
	got = pcap_next_ex(in->pcap, &header, &bytes);
	if (in->stopped)
		return CAPTURE_STOPPED;
	if (got == PCAP_ERROR_BREAK && !in->read_error) {
		in->complete = in->keep;
		in->kept_at = in->kept_bytes;
		return CAPTURE_END;
	}
	if (got != 1) {
		capture_explain(in, pcap_geterr(in->pcap));
		return CAPTURE_BAD;
	}
	in->records++;
	*record = (struct capture_record){
	    .time_ns = (uint64_t)header->ts.tv_sec * 1000000000 + header->ts.tv_usec,
	    .length = header->len,
	    .captured = header->caplen,
	    .bytes = bytes,
	};
	if (capture_snap_was_cut(&in->snap, in->records))
		record->length++; // nobody knows how much longer it was
	if (in->keep)
		capture_keep(in, record);
	return CAPTURE_RECORD;
}

enum capture_answer capture_in_next(struct capture_in *in, struct capture_record *record)
{
	enum capture_answer answer =
	    in->complete ? capture_next_kept(in, record) : capture_next_read(in, record);

	if (answer == CAPTURE_RECORD && record->captured < record->length)
		__atomic_store_n(&in->shortened, in->shortened + 1, __ATOMIC_RELAXED);
	return answer;
}

uint64_t capture_in_shortened(const struct capture_in *in)
{
	return __atomic_load_n(&in->shortened, __ATOMIC_RELAXED);
}

const struct capture_problem *capture_in_problem(const struct capture_in *in)
{
	return &in->problem;
}

bool capture_in_is_stream(const struct capture_in *in)
{
	return in->stream;
}

uint64_t capture_in_records(const struct capture_in *in)
{
	return in->records;
}

void capture_in_keep(struct capture_in *in)
{
	in->keep = true;
}

void capture_in_rewind(struct capture_in *in)
{
	in->records = 0;
	in->kept_at = 0;
	if (in->complete || !in->pcap)
		return;
	pcap_close(in->pcap);
	in->pcap = NULL;
	in->kept_bytes = 0;
	__atomic_store_n(&in->offset, 0, __ATOMIC_RELAXED);
}

double capture_in_progress(const struct capture_in *in)
{
	if (in->stream || !in->size)
		return -1;
	return (double)__atomic_load_n(&in->offset, __ATOMIC_RELAXED) / in->size;
}
