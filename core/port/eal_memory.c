// SPDX-License-Identifier: BSD-3-Clause
// What memory the machine has to give, and how much DPDK is to ask for.

#include "port/eal_memory.h"

#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>

// Room for a graph that is loaded later. Memory that is never touched costs about one percent of
// its size without hugepages.
#define EAL_LEAST_BYTES (128 * MIB)

uint64_t eal_with_room(uint64_t bytes)
{
	uint64_t all = bytes + bytes / 4 + EAL_OWN_BYTES;

	return all < EAL_LEAST_BYTES ? EAL_LEAST_BYTES : all;
}

static uint64_t number_read(const char *folder, const char *name, const char *leaf)
{
	char path[PATH_MAX];
	uint64_t number = 0;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s/%s", folder, name, leaf);
	file = fopen(path, "re");
	if (!file)
		return 0;
	if (fscanf(file, "%" SCNu64, &number) != 1)
		number = 0;
	fclose(file);
	return number;
}

uint64_t eal_hugepages_free(void)
{
	const char *folder = "/sys/kernel/mm/hugepages";
	DIR *dir = opendir(folder);
	uint64_t bytes = 0;
	struct dirent *entry;

	if (!dir)
		return 0;
	while ((entry = readdir(dir))) {
		uint64_t size_kib;
		uint64_t pages;
		uint64_t promised;

		if (sscanf(entry->d_name, "hugepages-%" SCNu64 "kB", &size_kib) != 1)
			continue;
		pages = number_read(folder, entry->d_name, "free_hugepages");
		promised = number_read(folder, entry->d_name, "resv_hugepages");
		if (pages > promised)
			bytes += (pages - promised) * (size_kib << 10);
	}
	closedir(dir);
	return bytes;
}

uint64_t eal_memory_available(void)
{
	FILE *file = fopen("/proc/meminfo", "re");
	uint64_t kib = 0;
	char line[256];

	if (!file)
		return UINT64_MAX;
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "MemAvailable: %" SCNu64, &kib) == 1)
			break;
	fclose(file);
	return kib ? kib << 10 : UINT64_MAX;
}
