// SPDX-License-Identifier: BSD-3-Clause
// The arguments that DPDK's environment is started with: ours where the user gives none. Nothing is
// shared with other processes and nothing stays behind, so any number of instances run side by
// side.

#include "port/eal_args.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "port/eal_folder.h"
#include "port/eal_memory.h"
#include "value/arena.h"
#include "value/log.h"

// No device has this address: as the only one allowed it makes EAL scan the bus and probe nothing.
// A device is probed when its port is opened.
#define EAL_NO_DEVICE "ffff:ff:1f.7"

static void eal_args_add(struct eal_args *args, const char *text, size_t length)
{
	args->argv = memory_grow(args->argv, (size_t)args->argc + 2, sizeof(char *));
	args->argv[args->argc] = memory_new(length + 1, 1);
	memcpy(args->argv[args->argc], text, length);
	args->argv[++args->argc] = NULL;
}

static void eal_args_put(struct eal_args *args, const char *text)
{
	eal_args_add(args, text, strlen(text));
}

void eal_args_free(struct eal_args *args)
{
	for (int i = 0; i < args->argc; i++)
		free(args->argv[i]);
	free(args->argv);
}

static struct eal_args eal_args_split(const char *text)
{
	struct eal_args args = {0};

	while (text && *text) {
		size_t blanks = strspn(text, " \t\n");
		size_t length = strcspn(text + blanks, " \t\n");

		if (length)
			eal_args_add(&args, text + blanks, length);
		text += blanks + length;
	}
	return args;
}

bool eal_args_have(const struct eal_args *args, const char *const *names)
{
	for (; *names; names++) {
		size_t length = strlen(*names);

		for (int i = 0; i < args->argc; i++) {
			const char *arg = args->argv[i];

			if (strncmp(arg, *names, length))
				continue;
			if (!arg[length] || arg[length] == '=' || (length == 2 && arg[1] != '-'))
				return true;
		}
	}
	return false;
}

// One logical core that may run anywhere we may: EAL pins the thread that starts it, and the
// control thread has no core of its own. Workers are our own threads.
static void eal_args_put_cores(struct eal_args *args)
{
	char *text = NULL;
	size_t size;
	FILE *stream;
	cpu_set_t *set = CPU_ALLOC(CPU_SETSIZE);
	const char *joint = "";

	if (!set || sched_getaffinity(0, CPU_ALLOC_SIZE(CPU_SETSIZE), set)) {
		CPU_FREE(set);
		return;
	}
	stream = open_memstream(&text, &size);
	if (stream) {
		fputs("--lcores=0@(", stream);
		for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
			if (!CPU_ISSET(cpu, set))
				continue;
			fprintf(stream, "%s%d", joint, cpu);
			joint = ",";
		}
		fputs(")", stream);
		fclose(stream);
		eal_args_put(args, text);
	}
	free(text);
	CPU_FREE(set);
}

// Valgrind has no room for the addresses that DPDK reserves for hugepages. It is known by what it
// loads into each program.
static bool eal_under_valgrind(void)
{
	const char *loaded = getenv("LD_PRELOAD");

	return loaded && strstr(loaded, "vgpreload");
}

static bool eal_wants_hugepages(const struct eal_wishes *wishes, const struct eal_args *more)
{
	if (EAL_HAVE(more, "--no-huge"))
		return false;
	if (EAL_HAVE(more, "--in-memory", "--huge-dir", "--socket-mem", "--legacy-mem"))
		return true;
	if (eal_under_valgrind())
		return false;
	return eal_hugepages_free() >= wishes->memory_bytes + EAL_OWN_BYTES;
}

struct eal_args eal_args_pick(const struct eal_wishes *wishes, bool *hugepages)
{
	struct eal_args more = eal_args_split(wishes->more);
	struct eal_args args = {0};
	// Those who name a prefix or a process type want to share with another process.
	bool shares = EAL_HAVE(&more, "--file-prefix", "--proc-type");
	bool pci = wishes->pci || EAL_HAVE(&more, "-a", "--allow", "-b", "--block");

	*hugepages = eal_wants_hugepages(wishes, &more);
	eal_args_put(&args, "sluice");
	if (!EAL_HAVE(&more, "-l", "-c", "--lcores"))
		eal_args_put_cores(&args);
	if (!shares)
		eal_args_put(&args, "--file-prefix=" EAL_PREFIX);
	if (*hugepages) {
		// Memory files without a name: nothing is left in /dev/hugepages, whatever ends us.
		// One file a segment list, because peers get file descriptors, and few of them.
		if (!shares && !EAL_HAVE(&more, "--huge-dir", "--in-memory", "--legacy-mem"))
			eal_args_put(&args, "--in-memory");
		if (!EAL_HAVE(&more, "--single-file-segments", "--legacy-mem"))
			eal_args_put(&args, "--single-file-segments");
	} else {
		char size[32];

		if (!EAL_HAVE(&more, "--no-huge"))
			eal_args_put(&args, "--no-huge");
		if (!shares && !EAL_HAVE(&more, "--no-shconf"))
			eal_args_put(&args, "--no-shconf");
		snprintf(size, sizeof(size), "-m%" PRIu64,
			 eal_with_room(wishes->memory_bytes) / MIB);
		if (!EAL_HAVE(&more, "-m"))
			eal_args_put(&args, size);
	}
	if (!pci) {
		if (!EAL_HAVE(&more, "--no-pci"))
			eal_args_put(&args, "--no-pci");
		if (!EAL_HAVE(&more, "--iova-mode"))
			eal_args_put(&args, "--iova-mode=va");
	} else if (!EAL_HAVE(&more, "-a", "--allow", "-b", "--block", "--no-pci")) {
		eal_args_put(&args, "--allow=" EAL_NO_DEVICE);
	}
	if (!EAL_HAVE(&more, "--telemetry", "--no-telemetry") &&
	    (!wishes->telemetry || shares || !eal_folder_make()))
		eal_args_put(&args, "--no-telemetry");
	if (!EAL_HAVE(&more, "--log-level"))
		eal_args_put(&args, log_level() == LOG_LEVEL_DEBUG ? "--log-level=info"
								   : "--log-level=error");
	for (int i = 0; i < more.argc; i++)
		eal_args_put(&args, more.argv[i]);
	eal_args_free(&more);
	return args;
}

char *eal_args_text(const struct eal_args *args)
{
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	if (!stream)
		return memory_new(1, 1);
	for (int i = 1; i < args->argc; i++)
		fprintf(stream, "%s%s", i > 1 ? " " : "", args->argv[i]);
	fclose(stream);
	return text;
}

char *eal_command_line(const struct eal_wishes *wishes)
{
	bool hugepages;
	struct eal_args args = eal_args_pick(wishes, &hugepages);
	char *text = eal_args_text(&args);

	eal_args_free(&args);
	return text;
}
