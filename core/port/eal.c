// SPDX-License-Identifier: BSD-3-Clause
// Starts DPDK's environment with arguments picked here: no user need know one. Nothing is shared
// with other processes and nothing stays behind, so any number of instances run side by side.

#include "port/eal.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_errno.h>

#include "port/eallog.h"
#include "value/arena.h"
#include "value/errors.h"

#define MIB (UINT64_C(1) << 20)

// What EAL itself takes, and room for a graph that is loaded later. Memory that is never touched
// costs about one percent of its size without hugepages.
#define EAL_OWN_BYTES (32 * MIB)
#define EAL_LEAST_BYTES (128 * MIB)

// No device has this address: as the only one allowed it makes EAL scan the bus and probe nothing.
// A device is probed when its port is opened.
#define EAL_NO_DEVICE "ffff:ff:1f.7"

#define EAL_FOLDER "RUNTIME_DIRECTORY" // the variable by which systemd says where it is

static struct {
	bool running;
	bool stopped;
	bool hugepages;
	bool pci;
	uint64_t memory_bytes; // without hugepages all there will ever be
} eal;

static uint64_t eal_with_room(uint64_t bytes)
{
	uint64_t all = bytes + bytes / 4 + EAL_OWN_BYTES;

	return all < EAL_LEAST_BYTES ? EAL_LEAST_BYTES : all;
}

static uint64_t eal_read_number(const char *folder, const char *name, const char *leaf)
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

// Bytes of hugepages that nobody uses and nobody was promised, all sizes together.
static uint64_t eal_hugepages_free(void)
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
		pages = eal_read_number(folder, entry->d_name, "free_hugepages");
		promised = eal_read_number(folder, entry->d_name, "resv_hugepages");
		if (pages > promised)
			bytes += (pages - promised) * (size_kib << 10);
	}
	closedir(dir);
	return bytes;
}

static uint64_t eal_memory_available(void)
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

// Arguments as a list of separate texts.
struct eal_args {
	char **argv; // NULL at the end
	int argc;
};

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

static void eal_args_free(struct eal_args *args)
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

// Whether the user gave any of these options, as `--name`, `--name=value` or `-xVALUE`.
static bool eal_args_have(const struct eal_args *args, const char *const *names)
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

#define EAL_HAVE(args, ...) eal_args_have((args), (const char *const[]){__VA_ARGS__, NULL})

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

static bool eal_wants_hugepages(const struct eal_wishes *wishes, const struct eal_args *more)
{
	if (EAL_HAVE(more, "--no-huge"))
		return false;
	if (EAL_HAVE(more, "--in-memory", "--huge-dir", "--socket-mem", "--legacy-mem"))
		return true;
	return eal_hugepages_free() >= wishes->memory_bytes + EAL_OWN_BYTES;
}

// The arguments that fit this machine and the wishes; what the user gives himself replaces ours.
static struct eal_args eal_args_pick(const struct eal_wishes *wishes, bool *hugepages)
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
		eal_args_put(&args, "--file-prefix=sluice");
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
	if (!EAL_HAVE(&more, "--telemetry", "--no-telemetry"))
		eal_args_put(&args, "--no-telemetry");
	if (!EAL_HAVE(&more, "--log-level"))
		eal_args_put(&args, "--log-level=error");
	for (int i = 0; i < more.argc; i++)
		eal_args_put(&args, more.argv[i]);
	eal_args_free(&more);
	return args;
}

static char *eal_args_text(const struct eal_args *args)
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

// EAL makes a folder for files that we do not let it write, wherever it may be that this user can
// write to or not. It gets along without one, so it is shown a place where there can be none.
// False: the files are wanted, because other processes share them.
static bool eal_folder_hide(const struct eal_args *args, char **before)
{
	const char *now = getenv(EAL_FOLDER);

	if (!EAL_HAVE(args, "--no-shconf", "--in-memory"))
		return false;
	*before = now ? strdup(now) : NULL;
	setenv(EAL_FOLDER, "/proc/self/none", 1);
	return true;
}

static void eal_folder_show(char *before)
{
	if (before)
		setenv(EAL_FOLDER, before, 1);
	else
		unsetenv(EAL_FOLDER);
	free(before);
}

// While EAL starts, what it writes to the standard streams itself (alerts, pages of usage) is kept
// from the user's terminal and from the JSON on standard output.
struct eal_hush {
	int out;
	int err;
	int said;
};

static void eal_hush_begin(struct eal_hush *hush)
{
	int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);

	fflush(stdout);
	fflush(stderr);
	hush->said = memfd_create("sluice-eal", MFD_CLOEXEC);
	hush->out = nowhere < 0 ? -1 : fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	hush->err = hush->said < 0 ? -1 : fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	if (hush->out >= 0)
		dup2(nowhere, STDOUT_FILENO);
	if (hush->err >= 0)
		dup2(hush->said, STDERR_FILENO);
	if (nowhere >= 0)
		close(nowhere);
}

static void eal_hush_end(struct eal_hush *hush, struct eallog_caught *caught)
{
	char text[1024];
	ssize_t n;

	fflush(stdout);
	fflush(stderr);
	if (hush->out >= 0) {
		dup2(hush->out, STDOUT_FILENO);
		close(hush->out);
	}
	if (hush->err >= 0) {
		dup2(hush->err, STDERR_FILENO);
		close(hush->err);
	}
	if (hush->said < 0)
		return;
	n = pread(hush->said, text, sizeof(text), 0);
	if (n > 0)
		eallog_add(caught, text, (size_t)n);
	close(hush->said);
}

static int eal_init(const struct eal_wishes *wishes, struct errors *errors)
{
	bool hugepages;
	struct eal_args args = eal_args_pick(wishes, &hugepages);
	char *text = eal_args_text(&args);
	char **argv = memory_new((size_t)args.argc + 1, sizeof(char *)); // EAL shuffles them
	struct eallog_caught caught;
	char *folder = NULL;
	bool hidden;
	struct eal_hush hush;
	char reason[EALLOG_CAUGHT_MAX];
	cpu_set_t allowed;
	bool pinned = !sched_getaffinity(0, sizeof(allowed), &allowed);
	int result;

	memcpy(argv, args.argv, (size_t)args.argc * sizeof(char *));
	eallog_open();
	eallog_catch_begin(&caught);
	hidden = eal_folder_hide(&args, &folder);
	eal_hush_begin(&hush);
	result = rte_eal_init(args.argc, argv);
	eal_hush_end(&hush, &caught);
	if (hidden)
		eal_folder_show(folder);
	eallog_catch_end(&caught);
	if (pinned)
		sched_setaffinity(0, sizeof(allowed), &allowed);
	if (result >= 0) {
		eal.running = true;
		eal.hugepages = hugepages;
		eal.pci = wishes->pci;
		eal.memory_bytes = eal_with_room(wishes->memory_bytes);
	} else if (wishes->more && *wishes->more && rte_errno == EINVAL) {
		error_input(errors, NULL, "eal: DPDK does not take the arguments `%s`%s", text,
			    eallog_reason(&caught, reason, sizeof(reason)));
	} else {
		error_machine(errors, NULL, "DPDK does not start with `%s`%s", text,
			      eallog_reason(&caught, reason, sizeof(reason)));
	}
	free(text);
	free(argv);
	eal_args_free(&args);
	return result < 0 ? -1 : 0;
}

static int eal_keep(const struct eal_wishes *wishes, struct errors *errors)
{
	unsigned before = errors_count(errors);

	if (wishes->pci && !eal.pci)
		error_machine(errors, NULL,
			      "DPDK was started without the PCI bus and cannot add it later, "
			      "start the program with a graph that has a pci port");
	if (!eal.hugepages && wishes->memory_bytes > eal.memory_bytes)
		error_machine(
		    errors, NULL,
		    "%" PRIu64 " MiB of memory are needed, and DPDK was started with "
		    "%" PRIu64 " MiB; without hugepages it cannot grow, so restart the "
		    "program, with a larger `memory:` in the first graph or with hugepages",
		    wishes->memory_bytes / MIB, eal.memory_bytes / MIB);
	return errors_count(errors) > before ? -1 : 0;
}

int eal_start(const struct eal_wishes *wishes, struct errors *errors)
{
	if (eal.running)
		return eal_keep(wishes, errors);
	if (eal.stopped) {
		error_machine(errors, NULL,
			      "DPDK was stopped and cannot start a second time in "
			      "one process, restart the program");
		return -1;
	}
	if (wishes->memory_bytes > eal_memory_available() &&
	    wishes->memory_bytes > eal_hugepages_free()) {
		error_machine(errors, NULL,
			      "%" PRIu64 " MiB of memory are needed, and this machine has "
			      "%" PRIu64 " MiB free; use fewer or smaller queues and tables",
			      wishes->memory_bytes / MIB, eal_memory_available() / MIB);
		return -1;
	}
	return eal_init(wishes, errors);
}

bool eal_running(void)
{
	return eal.running;
}

bool eal_hugepages(void)
{
	return eal.hugepages;
}

void eal_stop(void)
{
	if (!eal.running)
		return;
	rte_eal_cleanup();
	eallog_close();
	eal.running = false;
	eal.stopped = true;
}
