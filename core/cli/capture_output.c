// SPDX-License-Identifier: BSD-3-Clause
// What `sluice capture` does with the blocks that come.

#include "cli/capture_output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "control/pcapng.h"
#include "value/table.h"

struct interface {
	char *name;
	uint64_t packets;
	struct pcapng_statistics statistics;
};

struct capture_output {
	int fd; // -1: text
	const char *file;
	bool begun;
	uint8_t *part; // of a block that has not come whole
	size_t n_part;
	struct interface *interfaces;
	size_t n_interfaces;
	uint64_t packets;
	bool summed;  // the capture's own statistics have come
	char *reason; // why it ended; NULL: as was wanted
	int error;    // errno of a write; -1: the stream is damaged
};

struct capture_output *capture_output_new(int fd, const char *file)
{
	struct capture_output *output = memory_new(1, sizeof(*output));

	output->fd = fd;
	output->file = file;
	return output;
}

void capture_output_free(struct capture_output *output)
{
	for (size_t i = 0; i < output->n_interfaces; i++)
		free(output->interfaces[i].name);
	free(output->interfaces);
	free(output->part);
	free(output->reason);
	free(output);
}

static struct interface *interface_of(struct capture_output *output, uint32_t number)
{
	return number < output->n_interfaces ? &output->interfaces[number] : NULL;
}

// "12:34:56.123456789 rx[0] in 60: ether ...": the length is the packet's, the words are of what
// was taken of it.
static void packet_print(const struct interface *interface, const struct pcapng_packet *packet)
{
	static const char *const directions[] = {"", " in", " out", ""};
	time_t seconds = (time_t)(packet->time_ns / 1000000000);
	struct arena *arena = arena_new();
	struct tm local;
	char text[16];

	localtime_r(&seconds, &local);
	strftime(text, sizeof(text), "%H:%M:%S", &local);
	printf("%s.%09u %s%s %u: %s\n", text, (unsigned)(packet->time_ns % 1000000000),
	       interface->name, directions[packet->direction], packet->length,
	       frame_describe(arena, packet->bytes, packet->captured));
	arena_free(arena);
}

static void interface_add(struct capture_output *output, const uint8_t *block, size_t n)
{
	char name[256] = "";

	pcapng_interface_name(block, n, name, sizeof(name));
	output->interfaces =
	    memory_grow(output->interfaces, output->n_interfaces + 1, sizeof(*output->interfaces));
	output->interfaces[output->n_interfaces++] = (struct interface){.name = strdup(name)};
}

static void statistics_take(struct capture_output *output, const uint8_t *block, size_t n)
{
	static char comment[PCAPNG_TEXT_MAX + 1];
	struct pcapng_statistics statistics;
	struct interface *interface;

	if (!pcapng_statistics_read(block, n, &statistics, comment))
		return;
	interface = interface_of(output, statistics.interface);
	if (!interface)
		return;
	output->summed = true;
	if (statistics.comment && !output->reason)
		output->reason = strdup(comment);
	interface->statistics = statistics;
}

static void block_take(struct capture_output *output, const uint8_t *block, size_t n)
{
	struct pcapng_packet packet;
	struct interface *interface;

	switch (pcapng_type(block)) {
	case PCAPNG_INTERFACE:
		interface_add(output, block, n);
		return;
	case PCAPNG_STATISTICS:
		statistics_take(output, block, n);
		return;
	case PCAPNG_PACKET:
		if (!pcapng_packet_read(block, n, &packet))
			return;
		interface = interface_of(output, packet.interface);
		if (!interface)
			return;
		interface->packets++;
		output->packets++;
		if (output->fd < 0)
			packet_print(interface, &packet);
		return;
	default:
		return;
	}
}

static bool output_write(struct capture_output *output, const uint8_t *bytes, size_t n)
{
	struct stat info;

	// What was in a file is there until something comes. What a shell has opened is its own.
	if (!output->begun && output->fd > STDERR_FILENO && !fstat(output->fd, &info) &&
	    S_ISREG(info.st_mode) && ftruncate(output->fd, 0))
		output->error = errno;
	output->begun = true;
	while (n && !output->error) {
		ssize_t put = write(output->fd, bytes, n);

		if (put < 0 && errno != EINTR)
			output->error = errno;
		if (put > 0) {
			bytes += put;
			n -= (size_t)put;
		}
	}
	return !output->error;
}

// Counts the whole blocks; how many bytes they are.
static size_t blocks_take(struct capture_output *output, const uint8_t *bytes, size_t n)
{
	size_t done = 0;
	int64_t length;

	while ((length = pcapng_block(bytes + done, n - done)) > 0) {
		block_take(output, bytes + done, (size_t)length);
		done += (size_t)length;
	}
	if (length < 0)
		output->error = -1;
	return done;
}

static bool pass_on(struct capture_output *output, const uint8_t *bytes, size_t n)
{
	if (output->fd >= 0)
		return !n || output_write(output, bytes, n);
	if (fflush(stdout))
		output->error = errno;
	return !output->error;
}

static void part_add(struct capture_output *output, const uint8_t *bytes, size_t n)
{
	output->part = memory_grow(output->part, output->n_part + n, 1);
	memcpy(output->part + output->n_part, bytes, n);
	output->n_part += n;
}

bool capture_output_take(struct capture_output *output, const void *bytes_, size_t n)
{
	const uint8_t *bytes = bytes_;
	size_t done;

	// The block that was cut is made whole first, by no more than it needs.
	while (output->n_part && n && !output->error) {
		size_t need = 12;
		uint32_t length;

		if (output->n_part >= need) {
			memcpy(&length, output->part + 4, sizeof(length));
			need = length;
		}
		need = RTE_MIN(need - output->n_part, n);
		part_add(output, bytes, need);
		bytes += need;
		n -= need;
		done = blocks_take(output, output->part, output->n_part);
		if (!done)
			continue;
		output->n_part = 0;
		if (!pass_on(output, output->part, done))
			return false;
	}
	if (output->error)
		return false;
	done = blocks_take(output, bytes, n);
	if (!pass_on(output, bytes, done) || output->error)
		return false;
	if (done < n)
		part_add(output, bytes + done, n - done);
	return true;
}

int capture_output_fault(const struct capture_output *output)
{
	if (!output->error || output->error == EPIPE)
		return EXIT_DONE;
	if (output->error < 0)
		fprintf(stderr, "sluice: error: what comes is no pcapng\n");
	else
		fprintf(stderr, "sluice: error: cannot write %s: %s\n", output->file,
			strerror(output->error));
	return output->error < 0 ? EXIT_FAILED : EXIT_MACHINE;
}

static json_t *sum_json(const struct capture_output *output, uint64_t dropped)
{
	json_t *list = json_array();

	for (size_t i = 0; i < output->n_interfaces; i++) {
		const struct interface *at = &output->interfaces[i];

		json_array_append_new(list,
				      json_pack("{s:s, s:I, s:I, s:I, s:I}", "name", at->name,
						"seen", (json_int_t)at->statistics.received,
						"accepted", (json_int_t)at->statistics.accepted,
						"captured", (json_int_t)at->packets, "dropped",
						(json_int_t)at->statistics.dropped));
	}
	return json_pack("{s:I, s:o, s:s?, s:o}", "captured", (json_int_t)output->packets,
			 "dropped",
			 output->summed ? json_integer((json_int_t)dropped) : json_null(), "reason",
			 output->reason, "links", list);
}

void capture_output_sum(const struct capture_output *output, FILE *to, bool json)
{
	uint64_t dropped = 0;
	json_t *sum;

	for (size_t i = 0; i < output->n_interfaces; i++)
		dropped += output->interfaces[i].statistics.dropped;
	if (json) {
		sum = sum_json(output, dropped);
		json_dumpf(sum, to, JSON_COMPACT);
		fputc('\n', to);
		json_decref(sum);
		return;
	}
	if (output->reason)
		fprintf(to, "sluice: note: the capture ended: %s\n", output->reason);
	fprintf(to, "%lu captured", output->packets);
	if (output->summed)
		fprintf(to, ", %lu dropped by the capture%s", dropped,
			dropped ? " (more came than it could take)" : "");
	fputc('\n', to);
}
