// SPDX-License-Identifier: BSD-3-Clause
// Fuzz target: any bytes as a capture file. They are read twice, whole and once more from the
// start, and what is said to be there is touched.

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../drivers/capture.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t read_all(struct capture_in *in, uint64_t *sum)
{
	struct capture_record record;
	uint64_t n = 0;

	while (capture_in_next(in, &record) == CAPTURE_RECORD) {
		if (record.captured > CAPTURE_LENGTH_MAX)
			abort();
		for (uint32_t i = 0; i < record.captured; i++)
			*sum = *sum * 31 + record.bytes[i];
		n++;
	}
	if (n != capture_in_records(in))
		abort();
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("capture", MFD_CLOEXEC);
	char path[64];

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	for (unsigned keep = 0; keep < 2; keep++) {
		struct capture_problem problem;
		struct capture_in *in = capture_in_open(path, -1, &problem);
		uint64_t n, sum[2] = {0};

		if (!in)
			break;
		if (keep)
			capture_in_keep(in);
		n = read_all(in, &sum[0]);
		capture_in_rewind(in);
		// A damaged file ends at the same place again.
		if (read_all(in, &sum[1]) != n || sum[0] != sum[1])
			abort();
		capture_in_close(in);
	}
	close(fd);
	return 0;
}
