// SPDX-License-Identifier: BSD-3-Clause
// sluice test: the packets of a capture, read at once.

#include <string.h>

#include <pcap/pcap.h>

#include "cli/test.h"

int test_capture_read(struct arena *arena, const char *path, struct place place,
		      struct test_packets *packets, struct errors *errors)
{
	char why[PCAP_ERRBUF_SIZE] = "";
	pcap_t *capture = pcap_open_offline(path, why);
	struct pcap_pkthdr *header;
	const u_char *bytes;
	unsigned room = 0;
	int got;

	if (!capture) {
		error_at(errors, place, "\"%s\" cannot be read as a capture: %s", path, why);
		return -1;
	}
	while ((got = pcap_next_ex(capture, &header, &bytes)) == 1) {
		struct frame *frame;

		if (packets->n == room) {
			struct frame *old = packets->packets;

			room = room ? 2 * room : 64;
			packets->packets = arena_alloc(arena, room * sizeof(*old));
			if (old)
				memcpy(packets->packets, old, packets->n * sizeof(*old));
		}
		frame = &packets->packets[packets->n++];
		frame->bytes = arena_alloc(arena, header->caplen + 1);
		frame->n = header->caplen;
		memcpy(frame->bytes, bytes, header->caplen);
	}
	if (got == PCAP_ERROR)
		error_at(errors, place, "\"%s\" is damaged after packet %u: %s", path, packets->n,
			 pcap_geterr(capture));
	else if (pcap_datalink(capture) != DLT_EN10MB)
		error_at(errors, place,
			 "\"%s\" holds no Ethernet frames, but link type %d, it should be 1", path,
			 pcap_datalink(capture));
	else
		got = 0;
	pcap_close(capture);
	return got ? -1 : 0;
}
