// SPDX-License-Identifier: BSD-3-Clause
// What libpcap says tersely, or not at all, in words for whoever gave the file.

#include "capture_words.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pcap/pcap.h>

const char *capture_words_kind(const uint8_t head[CAPTURE_HEAD])
{
	static const struct {
		const char *magic;
		unsigned n;
		const char *what;
	} known[] = {
	    {"\x1f\x8b", 2, " (it is compressed with gzip: gunzip it first)"},
	    {"\xfd\x37zXZ", 5, " (it is compressed with xz: unxz it first)"},
	    {"\x28\xb5\x2f\xfd", 4, " (it is compressed with zstd: unzstd it first)"},
	    {"BZh", 3, " (it is compressed with bzip2: bunzip2 it first)"},
	    {"snoop", 5, " (it is of Solaris' snoop: editcap -F pcap converts it)"},
	};

	for (unsigned i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!memcmp(head, known[i].magic, known[i].n))
			return known[i].what;
	return "";
}

// Files number two link types in another way than libpcap does in memory.
static int capture_words_number(int dlt)
{
	if (dlt == DLT_RAW)
		return 101;
	return dlt == DLT_ATM_RFC1483 ? 100 : dlt;
}

void capture_words_link(char *text, size_t size, int dlt)
{
	const char *name = pcap_datalink_val_to_name(dlt);
	const char *description = pcap_datalink_val_to_description(dlt);

	snprintf(text, size, "%d (%s%s%s)", capture_words_number(dlt), name ? name : "unknown",
		 description ? ", " : "", description ? description : "");
}

// Whether a text begins as a pattern, in which # stands for a number. Takes that number and the
// next one in the text, if there is one.
static bool capture_words_match(const char *text, const char *pattern, unsigned long numbers[2])
{
	size_t before = strcspn(pattern, "#"), after = strlen(pattern + before + 1);
	char *end;

	if (strncmp(text, pattern, before) != 0)
		return false;
	numbers[0] = strtoul(text + before, &end, 10);
	if (strncmp(end, pattern + before + 1, after) != 0)
		return false;
	numbers[1] = strtoul(end + strcspn(end, "0123456789"), NULL, 10);
	return true;
}

void capture_words_stop(char *text, size_t size, const char *reason)
{
	unsigned long n[2] = {0};
	char link[128];

	if (capture_words_match(reason, "truncated dump file; tried to read # header", n)) {
		snprintf(text, size, "it is cut: %lu of %lu bytes of its header are there", n[1],
			 n[0]);
	} else if (capture_words_match(reason, "truncated dump file; tried to read # captured",
				       n)) {
		snprintf(text, size, "it is cut: %lu of %lu bytes are there", n[1], n[0]);
	} else if (capture_words_match(reason, "truncated pcapng dump file; tried to read #", n)) {
		snprintf(text, size, "the file is cut: %lu of %lu bytes of a block are there", n[1],
			 n[0]);
	} else if (capture_words_match(reason, "invalid packet capture length #", n)) {
		snprintf(text, size, "it claims to be %lu bytes long, the file is damaged", n[0]);
	} else if (capture_words_match(reason, "an interface has a type #", n)) {
		capture_words_link(link, sizeof(link), (int)n[0]);
		snprintf(text, size,
			 "before it comes an interface of link type %s, not Ethernet (1)", link);
	} else {
		snprintf(text, size, "%.200s", reason);
	}
}
