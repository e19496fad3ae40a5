// SPDX-License-Identifier: BSD-3-Clause
// The part of Generator that reads a capture: all of it is in memory before the first packet.

#ifndef SLUICE_GENERATOR_REPLAY_H
#define SLUICE_GENERATOR_REPLAY_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <pcap/pcap.h>

#include "generator_pace.h"
#include "source_frames.h"

#define GENERATOR_REPLAY_PACKETS (1u << 20)
#define GENERATOR_REPLAY_BYTES (256u << 20)

// A capture while it is read.
struct generator_replay {
	const char *path;
	pcap_t *pcap;
	struct source_frame *frames;
	uint64_t *times_ns;
	unsigned n;
	unsigned room;
	uint64_t bytes;
};

static bool generator_replay_grow(struct generator_replay *replay)
{
	unsigned room = replay->room ? 2 * replay->room : 1024;
	void *frames = realloc(replay->frames, room * sizeof(*replay->frames));
	void *times;

	if (frames)
		replay->frames = frames;
	times = realloc(replay->times_ns, room * sizeof(*replay->times_ns));
	if (times)
		replay->times_ns = times;
	if (!frames || !times)
		return false;
	replay->room = room;
	return true;
}

static int generator_replay_add(struct generator_replay *replay, const struct pcap_pkthdr *header,
				const uint8_t *bytes, struct errors *errors)
{
	struct source_frame *frame;

	if (header->caplen < header->len || header->len < 14 || header->len > 65535) {
		error_input(errors, "replay",
			    "packet %u of \"%s\" has %u of %u bytes; each should "
			    "be whole, and have 14 to 65535",
			    replay->n + 1, replay->path, header->caplen, header->len);
		return -1;
	}
	replay->bytes += header->len;
	if (replay->n == GENERATOR_REPLAY_PACKETS || replay->bytes > GENERATOR_REPLAY_BYTES) {
		error_input(errors, "replay",
			    "\"%s\" has more than %u packets or %u MiB, which "
			    "are the most that is kept in memory",
			    replay->path, GENERATOR_REPLAY_PACKETS, GENERATOR_REPLAY_BYTES >> 20);
		return -1;
	}
	if (replay->n == replay->room && !generator_replay_grow(replay))
		goto no_memory;
	frame = &replay->frames[replay->n];
	*frame = (struct source_frame){.length = header->len, .bytes = malloc(header->len)};
	if (!frame->bytes)
		goto no_memory;
	memcpy(frame->bytes, bytes, header->len);
	replay->times_ns[replay->n++] =
	    (uint64_t)header->ts.tv_sec * 1000000000 + (uint64_t)header->ts.tv_usec;
	return 0;
no_memory:
	error_machine(errors, "replay", "no memory for the packets of \"%s\"", replay->path);
	return -1;
}

static int generator_replay_packets(struct generator_replay *replay, struct errors *errors)
{
	struct pcap_pkthdr *header;
	const uint8_t *bytes;
	int got;

	if (pcap_datalink(replay->pcap) != DLT_EN10MB) {
		error_input(errors, "replay",
			    "\"%s\" holds packets of another link type than "
			    "Ethernet",
			    replay->path);
		return -1;
	}
	while ((got = pcap_next_ex(replay->pcap, &header, &bytes)) == 1)
		if (generator_replay_add(replay, header, bytes, errors))
			return -1;
	if (got == PCAP_ERROR) {
		error_input(errors, "replay", "\"%s\" is damaged behind packet %u: %s",
			    replay->path, replay->n, pcap_geterr(replay->pcap));
		return -1;
	}
	if (!replay->n)
		error_input(errors, "replay", "\"%s\" holds no packets", replay->path);
	return replay->n ? 0 : -1;
}

// Fills the maker with the packets of the capture, and *times_ns with when they were seen; that is
// the caller's, the frames are the maker's, after a failure too. 0, or -1 with the reason in
// errors.
static int generator_replay_open(struct source_maker *maker, const struct node *node,
				 const char *path, uint64_t **times_ns, struct errors *errors)
{
	struct generator_replay replay = {.path = path};
	char reason[PCAP_ERRBUF_SIZE] = "";
	FILE *file = fopen(path, "re");
	int status = -1;

	maker->room = rte_pktmbuf_data_room_size(node->pool) - RTE_PKTMBUF_HEADROOM;
	if (!file) {
		(errno == ENOENT || errno == ENOTDIR ? error_input : error_machine)(
		    errors, "replay", "cannot read \"%s\": %s", path, strerror(errno));
		return -1;
	}
	replay.pcap =
	    pcap_fopen_offline_with_tstamp_precision(file, PCAP_TSTAMP_PRECISION_NANO, reason);
	if (replay.pcap) {
		status = generator_replay_packets(&replay, errors);
		pcap_close(replay.pcap); // and the file
	} else {
		error_input(errors, "replay", "\"%s\" cannot be read as a capture: %s", path,
			    reason);
		fclose(file);
	}
	maker->frames = replay.frames;
	maker->n_frames = replay.n;
	*times_ns = replay.times_ns;
	return status;
}

// The gaps between packets as they were seen; behind the last one the mean of all.
static void generator_replay_gaps(struct generator_gap *gaps, const uint64_t *times_ns, unsigned n)
{
	uint64_t whole = 0;

	for (unsigned i = 0; i + 1 < n; i++) {
		uint64_t ns = times_ns[i + 1] > times_ns[i] ? times_ns[i + 1] - times_ns[i] : 0;

		gaps[i] = (struct generator_gap){.ns = ns, .mean_ns = (double)ns};
		whole += ns;
	}
	gaps[n - 1] = (struct generator_gap){.ns = n > 1 ? whole / (n - 1) : 0};
	gaps[n - 1].mean_ns = (double)gaps[n - 1].ns;
}

#endif
