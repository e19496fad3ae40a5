// SPDX-License-Identifier: BSD-3-Clause
// DPDK's messages through a stream of our own. DPDK formats and flushes each on the thread that
// logs, so a thread-local pointer decides whether it is caught or shown.

#include "port/eallog.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>

#include <rte_log.h>

#include "value/log.h"

static FILE *eallog_stream;
static __thread struct eallog_caught *eallog_catching;

// A line without blanks around it, and without the log type that DPDK puts in front of it
// ("EAL: ", "ETHDEV: ", "memif_connect(): "): it means nothing to a user.
static const char *eallog_trim(const char *line, size_t *length)
{
	size_t n = *length;

	while (n && isspace((unsigned char)line[n - 1]))
		n--;
	while (n && isspace((unsigned char)*line)) {
		line++;
		n--;
	}
	for (;;) {
		size_t i = 0;

		while (i < n && (isalnum((unsigned char)line[i]) || strchr("_()", line[i])))
			i++;
		if (!i || i + 1 >= n || line[i] != ':' || line[i + 1] != ' ')
			break;
		line += i + 2;
		n -= i + 2;
	}
	*length = n;
	return line;
}

void eallog_add(struct eallog_caught *caught, const char *text, size_t length)
{
	while (length) {
		const char *end = memchr(text, '\n', length);
		size_t line_length = end ? (size_t)(end - text) : length;
		size_t n = line_length;
		const char *line = eallog_trim(text, &n);
		const char *joint = caught->length ? "; " : "";

		// The same line twice (EAL's alert repeats its log) is said once.
		if (n && caught->length + n + 3 < sizeof(caught->text) &&
		    !memmem(caught->text, caught->length, line, n))
			caught->length += (size_t)snprintf(caught->text + caught->length,
							   sizeof(caught->text) - caught->length,
							   "%s%.*s", joint, (int)n, line);
		if (!end)
			break;
		length -= line_length + 1;
		text = end + 1;
	}
}

// What DPDK calls errors whenever a peer has gone, on threads of its own.
static bool eallog_is_noise(const char *line, size_t length)
{
	static const char *const noise[] = {
	    "interrupt disable failed",
	    "interrupt unregister failed",
	    "recvmsg failed on fd",
	    "vhost read message failed",
	};

	for (size_t i = 0; i < sizeof(noise) / sizeof(noise[0]); i++)
		if (memmem(line, length, noise[i], strlen(noise[i])))
			return true;
	return false;
}

static enum log_level eallog_level(void)
{
	int level = rte_log_cur_msg_loglevel();

	return level <= (int)RTE_LOG_ERR       ? LOG_LEVEL_ERROR
	       : level == (int)RTE_LOG_WARNING ? LOG_LEVEL_WARNING
	       : level == (int)RTE_LOG_NOTICE  ? LOG_LEVEL_NOTE
					       : LOG_LEVEL_DEBUG;
}

static ssize_t eallog_write(void *cookie, const char *text, size_t size)
{
	static const struct log_about about = {.source = "dpdk"};
	enum log_level level = eallog_level();
	size_t length = size;
	const char *line;

	(void)cookie;
	if (eallog_catching && level == LOG_LEVEL_ERROR) {
		eallog_add(eallog_catching, text, size);
		return (ssize_t)size;
	}
	line = eallog_trim(text, &length);
	if (length && !eallog_is_noise(line, length))
		log_say(level, &about, "%.*s", (int)length, line);
	return (ssize_t)size;
}

void eallog_open(void)
{
	if (eallog_stream)
		return;
	eallog_stream = fopencookie(NULL, "w", (cookie_io_functions_t){.write = eallog_write});
	if (eallog_stream)
		rte_openlog_stream(eallog_stream);
}

void eallog_close(void)
{
	if (!eallog_stream)
		return;
	rte_openlog_stream(NULL);
	fclose(eallog_stream);
	eallog_stream = NULL;
}

void eallog_catch_begin(struct eallog_caught *caught)
{
	caught->length = 0;
	caught->text[0] = '\0';
	caught->outer = eallog_catching;
	eallog_catching = caught;
}

void eallog_catch_end(struct eallog_caught *caught)
{
	eallog_catching = caught->outer;
}

const char *eallog_reason(const struct eallog_caught *caught, char *buffer, size_t size)
{
	if (!caught->length)
		return "";
	snprintf(buffer, size, ": %s", caught->text);
	return buffer;
}
