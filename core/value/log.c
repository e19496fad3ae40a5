// SPDX-License-Identifier: BSD-3-Clause
// One line at a time to where the user wants it.

#define SD_JOURNAL_SUPPRESS_LOCATION

#include "value/log.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <syslog.h>
#include <unistd.h>

#include <systemd/sd-journal.h>

#define LINE_MAX_BYTES 2048
#define JOURNAL_SOCKET "/run/systemd/journal/socket"
#define SYSLOG_SOCKET "/dev/log"

const char *const log_levels[] = {"error", "warning", "note", "debug", NULL};
const char *const log_targets[] = {"stderr", "syslog", "journal", NULL};

static const int priorities[] = {LOG_ERR, LOG_WARNING, LOG_NOTICE, LOG_DEBUG};

// The log is the process's: modules, drivers and DPDK speak through one. Set before threads start.
static struct {
	enum log_target target;
	enum log_level level;
	bool prefixed; // standard error is the journal's, which takes `<PRIORITY>` for the level
	pthread_mutex_t lock; // of the two below
	void (*hear)(void *to, enum log_level, const char *text);
	void *hear_to;
} log_state = {.level = LOG_LEVEL_NOTE, .lock = PTHREAD_MUTEX_INITIALIZER};

void log_listen(void (*hear)(void *to, enum log_level, const char *text), void *to)
{
	pthread_mutex_lock(&log_state.lock);
	log_state.hear = hear;
	log_state.hear_to = to;
	pthread_mutex_unlock(&log_state.lock);
}

static void listener_tell(enum log_level level, const char *text)
{
	pthread_mutex_lock(&log_state.lock);
	if (log_state.hear)
		log_state.hear(log_state.hear_to, level, text);
	pthread_mutex_unlock(&log_state.lock);
}

// $JOURNAL_STREAM is the device and inode of the stream that systemd made standard error.
static bool stderr_is_journal(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	unsigned long long device, inode;
	struct stat info;

	return stream && sscanf(stream, "%llu:%llu", &device, &inode) == 2 &&
	       !fstat(STDERR_FILENO, &info) && info.st_dev == device && info.st_ino == inode;
}

int log_open(enum log_target target, enum log_level level, struct errors *errors)
{
	const char *socket = target == LOG_TO_JOURNAL ? JOURNAL_SOCKET : SYSLOG_SOCKET;

	if (target != LOG_TO_STDERR && access(socket, F_OK)) {
		error_machine(errors, NULL, "--log %s: nobody listens at %s", log_targets[target],
			      socket);
		return -1;
	}
	log_state.target = target;
	log_state.level = level;
	log_state.prefixed = target == LOG_TO_STDERR && stderr_is_journal();
	if (target == LOG_TO_SYSLOG)
		openlog("sluice", LOG_PID | LOG_NDELAY, LOG_DAEMON);
	return 0;
}

enum log_level log_level(void)
{
	return log_state.level;
}

static void journal_field(struct iovec *fields, int *n, char *text, size_t size, const char *name,
			  const char *value)
{
	int length;

	if (!value)
		return;
	length = snprintf(text, size, "%s=%s", name, value);
	fields[*n] = (struct iovec){.iov_base = text,
				    .iov_len = (size_t)length < size ? (size_t)length : size - 1};
	(*n)++;
}

static void journal_say(enum log_level level, const struct log_about *about, const char *line)
{
	char message[LINE_MAX_BYTES + 16], priority[16], place[300], node[200], module[100],
	    port[200];
	struct iovec fields[8];
	char number[2] = {(char)('0' + priorities[level]), '\0'};
	int n = 0;

	journal_field(fields, &n, message, sizeof(message), "MESSAGE", line);
	journal_field(fields, &n, priority, sizeof(priority), "PRIORITY", number);
	journal_field(fields, &n, place, sizeof(place), "SLUICE_PLACE", about->place);
	journal_field(fields, &n, node, sizeof(node), "SLUICE_NODE", about->node);
	journal_field(fields, &n, module, sizeof(module), "SLUICE_MODULE", about->module);
	journal_field(fields, &n, port, sizeof(port), "SLUICE_PORT", about->port);
	fields[n++] = (struct iovec){.iov_base = (char *)"SYSLOG_IDENTIFIER=sluice", .iov_len = 24};
	sd_journal_sendv(fields, n);
}

// `line` is as people see it on standard error; a log has the name of the program and the level of
// its own, so there it begins behind them, at `body`.
static void line_put(enum log_level level, const struct log_about *about, const char *line,
		     const char *body)
{
	if (level > log_state.level)
		return;
	if (log_state.target == LOG_TO_SYSLOG)
		syslog(priorities[level], "%s", body);
	else if (log_state.target == LOG_TO_JOURNAL)
		journal_say(level, about, body);
	else if (log_state.prefixed)
		fprintf(stderr, "<%d>%s\n", priorities[level], line);
	else
		fprintf(stderr, "%s\n", line);
}

void log_say_args(enum log_level level, const struct log_about *about, const char *format,
		  va_list args)
{
	static const struct log_about nothing = {};
	char text[LINE_MAX_BYTES], line[LINE_MAX_BYTES + 400], body[LINE_MAX_BYTES + 400];
	const char *head;

	about = about ? about : &nothing;
	head = about->place ? about->place : about->source;
	vsnprintf(text, sizeof(text), format, args);
	snprintf(line, sizeof(line), "%.300s: %s: %s", about->place ? about->place : "sluice",
		 about->source ? about->source : log_levels[level], text);
	snprintf(body, sizeof(body), "%.300s%s%s", head ? head : "", head ? ": " : "", text);
	line_put(level, about, line, body);
	listener_tell(level, body);
}

void log_say(enum log_level level, const struct log_about *about, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	log_say_args(level, about, format, args);
	va_end(args);
}

void log_errors(const struct errors *errors)
{
	static const struct log_about nothing = {};
	char *text, *next;

	text = errors_text(errors);
	next = text;
	for (char *line = strsep(&next, "\n"); line; line = strsep(&next, "\n")) {
		if (!*line)
			continue;
		line_put(LOG_LEVEL_ERROR, &nothing, line, line);
		listener_tell(LOG_LEVEL_ERROR, line);
	}
	free(text);
}
