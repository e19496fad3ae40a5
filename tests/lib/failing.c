// SPDX-License-Identifier: BSD-3-Clause
// Preloaded by tests/alloc.sh: lets one allocation of the program fail, or all from one on, and
// makes the packet pool small. Allocations count that the program itself, jansson and libyaml
// ask for; those of libc, DPDK and libpcap (which crashes) do not: they are not ours to mend.
//
//   FAIL_AT=N       the N-th of them fails
//   FAIL_ON=1       and all after it
//   FAIL_COUNT=FILE their number is written there at the end
//   POOL_PACKETS=N  a packet pool has so many packets

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RANGES_MAX 64
#define CALLER ((uintptr_t)__builtin_return_address(0))

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
struct rte_mempool *rte_pktmbuf_pool_create(const char *, unsigned, unsigned, uint16_t, uint16_t,
					    int);

static struct {
	uintptr_t from, to;
} ranges[RANGES_MAX];
static unsigned n_ranges;
static uint64_t fail_at = UINT64_MAX, count;
static bool fail_on;

static bool counts(const char *object)
{
	return !*object || strstr(object, "libjansson") || strstr(object, "libyaml");
}

static int object_seen(struct dl_phdr_info *info, size_t size, void *first)
{
	(void)size;
	// The program is the first and has no name; so may be the vDSO.
	if ((*info->dlpi_name || *(bool *)first) && counts(info->dlpi_name))
		for (unsigned i = 0; i < info->dlpi_phnum && n_ranges < RANGES_MAX; i++) {
			const ElfW(Phdr) *part = &info->dlpi_phdr[i];

			if (part->p_type != PT_LOAD || !(part->p_flags & PF_X))
				continue;
			ranges[n_ranges].from = info->dlpi_addr + part->p_vaddr;
			ranges[n_ranges].to = ranges[n_ranges].from + part->p_memsz;
			n_ranges++;
		}
	*(bool *)first = false;
	return 0;
}

__attribute__((constructor)) static void begin(void)
{
	const char *at = getenv("FAIL_AT");
	bool first = true;

	fail_on = getenv("FAIL_ON");
	if (at)
		fail_at = strtoull(at, NULL, 10);
	dl_iterate_phdr(object_seen, &first);
}

__attribute__((destructor)) static void end(void)
{
	const char *path = getenv("FAIL_COUNT");
	FILE *file = path ? fopen(path, "w") : NULL;

	if (!file)
		return;
	fprintf(file, "%lu\n", __atomic_load_n(&count, __ATOMIC_RELAXED));
	fclose(file);
}

static bool fails(uintptr_t caller)
{
	bool ours = false;
	uint64_t n;

	for (unsigned i = 0; i < n_ranges; i++)
		ours |= caller >= ranges[i].from && caller < ranges[i].to;
	if (!ours)
		return false;
	n = __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED);
	if (n != fail_at && !(fail_on && n > fail_at))
		return false;
	errno = ENOMEM;
	return true;
}

void *malloc(size_t size)
{
	return fails(CALLER) ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	return fails(CALLER) ? NULL : __libc_calloc(n, size);
}

void *realloc(void *old, size_t size)
{
	return fails(CALLER) ? NULL : __libc_realloc(old, size);
}

void *reallocarray(void *old, size_t n, size_t size)
{
	if (fails(CALLER))
		return NULL;
	if (size && n > SIZE_MAX / size) {
		errno = ENOMEM;
		return NULL;
	}
	return __libc_realloc(old, n * size);
}

void *aligned_alloc(size_t align, size_t size)
{
	return fails(CALLER) ? NULL : __libc_memalign(align, size);
}

char *strdup(const char *text)
{
	size_t size = strlen(text) + 1;
	char *copy = fails(CALLER) ? NULL : __libc_malloc(size);

	return copy ? memcpy(copy, text, size) : NULL;
}

struct rte_mempool *rte_pktmbuf_pool_create(const char *name, unsigned n, unsigned cache,
					    uint16_t private, uint16_t room, int socket)
{
	static typeof(rte_pktmbuf_pool_create) *next;
	const char *packets = getenv("POOL_PACKETS");

	if (!next)
		next = (typeof(next))dlsym(RTLD_NEXT, "rte_pktmbuf_pool_create");
	if (packets)
		return next(name, (unsigned)strtoul(packets, NULL, 10), 0, private, room, socket);
	return next(name, n, cache, private, room, socket);
}
