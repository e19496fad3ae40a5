// SPDX-License-Identifier: BSD-3-Clause
// What sluice doctor finds out about the processor, memory and limits.

#include <dirent.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cli/doctor.h"

// A cpu set as the kernel writes it: "0-3,8".
static void cores_text(const cpu_set_t *set, char *text, size_t size)
{
	size_t at = 0;

	text[0] = '\0';
	for (int core = 0; core < CPU_SETSIZE && at + 16 < size; core++) {
		int last = core;

		if (!CPU_ISSET(core, set))
			continue;
		while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, set))
			last++;
		at += (size_t)snprintf(text + at, size - at, last > core ? "%s%d-%d" : "%s%d",
				       at ? "," : "", core, last);
		core = last;
	}
}

// The share of a processor that the container may use, from cgroup version 2 or 1; 0: all of it.
static double cores_quota(void)
{
	char line[64];
	double quota = 0;
	double period = 0;

	if (file_line("/sys/fs/cgroup/cpu.max", line, sizeof(line)))
		return sscanf(line, "%lf %lf", &quota, &period) == 2 ? quota / period : 0;
	if (!file_line("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", line, sizeof(line)))
		return 0;
	quota = strtod(line, NULL);
	if (quota <= 0 || !file_line("/sys/fs/cgroup/cpu/cpu.cfs_period_us", line, sizeof(line)))
		return 0;
	period = strtod(line, NULL);
	return period > 0 ? quota / period : 0;
}

void doctor_cores(json_t *findings)
{
	char allowed[256];
	char isolated[256] = "";
	cpu_set_t set;
	double quota = cores_quota();
	int n;

	if (sched_getaffinity(0, sizeof(set), &set)) {
		finding_add(findings, FINDING_MISSING, "cores", NULL,
			    "the kernel does not say which cores may be used: %m");
		return;
	}
	n = CPU_COUNT(&set);
	cores_text(&set, allowed, sizeof(allowed));
	finding_add(
	    findings, n > 1 ? FINDING_OK : FINDING_NOTE, "cores",
	    n > 1 ? NULL : "allow more: `taskset -c 0-3 sluice ...`, or more cores for the machine",
	    n > 1 ? "%d may be used: %s" : "%d may be used (%s): workers and control share it", n,
	    allowed);
	if (quota > 0 && quota < n)
		finding_add(
		    findings, FINDING_NOTE, "quota",
		    "raise the limit of the container or service (cpu.max)",
		    "the group of this process gets %.2f cores' time: a worker that polls is "
		    "paused again and again",
		    quota);
	file_line("/sys/devices/system/cpu/isolated", isolated, sizeof(isolated));
	if (isolated[0])
		finding_add(findings, FINDING_OK, "isolation", NULL,
			    "the kernel keeps its work off the cores %s", isolated);
	else
		finding_add(findings, FINDING_NOTE, "isolation",
			    "for steady figures boot with isolcpus=2-3 nohz_full=2-3 rcu_nocbs=2-3",
			    "no core is isolated: other programs interrupt the workers");
}

static bool cpu_has(const char *flag)
{
	FILE *file = fopen("/proc/cpuinfo", "re");
	char *line = NULL;
	size_t size = 0;
	bool has = false;

	if (!file)
		return false;
	while (!has && getline(&line, &size, file) >= 0) {
		if (strncmp(line, "flags", 5))
			continue;
		for (char *at = line, *word; (word = strsep(&at, " \t\n"));)
			has = has || !strcmp(word, flag);
		break;
	}
	free(line);
	fclose(file);
	return has;
}

void doctor_clock(json_t *findings)
{
	bool invariant = cpu_has("constant_tsc") && cpu_has("nonstop_tsc");
	char source[32] = "unknown";

	file_line("/sys/devices/system/clocksource/clocksource0/current_clocksource", source,
		  sizeof(source));
	finding_add(findings, invariant ? FINDING_OK : FINDING_NOTE, "clock",
		    invariant ? NULL
			      : "in a virtual machine, pass the host's TSC on (qemu: -cpu "
				"host,+invtsc)",
		    invariant
			? "the processor's counter runs evenly on all cores (invariant TSC; "
			  "the kernel uses %s)"
			: "the processor's counter may change its pace (no invariant TSC; the "
			  "kernel uses %s): figures in cycles are rough",
		    source);
}

static const char *hugepage_mount(char *path, size_t size)
{
	FILE *file = fopen("/proc/mounts", "re");
	char line[1024];
	char type[64];
	const char *found = NULL;

	if (!file)
		return NULL;
	while (!found && fgets(line, sizeof(line), file)) {
		char where[512];

		if (sscanf(line, "%*s %511s %63s", where, type) == 2 &&
		    !strcmp(type, "hugetlbfs")) {
			snprintf(path, size, "%s", where);
			found = path;
		}
	}
	fclose(file);
	return found;
}

// Pages of all sizes, free and all, in MiB.
static void hugepage_count(uint64_t *free_mb, uint64_t *all_mb)
{
	static const char dir[] = "/sys/kernel/mm/hugepages";
	DIR *sizes = opendir(dir);
	struct dirent *entry;

	*free_mb = *all_mb = 0;
	while (sizes && (entry = readdir(sizes))) {
		char path[512];
		char line[32];
		uint64_t kb;

		if (sscanf(entry->d_name, "hugepages-%" SCNu64 "kB", &kb) != 1)
			continue;
		snprintf(path, sizeof(path), "%s/%s/nr_hugepages", dir, entry->d_name);
		if (file_line(path, line, sizeof(line)))
			*all_mb += strtoull(line, NULL, 10) * kb / 1024;
		snprintf(path, sizeof(path), "%s/%s/free_hugepages", dir, entry->d_name);
		if (file_line(path, line, sizeof(line)))
			*free_mb += strtoull(line, NULL, 10) * kb / 1024;
	}
	if (sizes)
		closedir(sizes);
}

void doctor_hugepages(json_t *findings)
{
	char path[512];
	uint64_t free_mb;
	uint64_t all_mb;

	hugepage_count(&free_mb, &all_mb);
	if (!all_mb)
		finding_add(findings, FINDING_NOTE, "hugepages", "sudo sysctl vm.nr_hugepages=256",
			    "none: graphs run in ordinary memory, somewhat slower; network cards "
			    "need them");
	else if (!hugepage_mount(path, sizeof(path)))
		finding_add(findings, FINDING_NOTE, "hugepages",
			    "sudo mkdir -p /dev/hugepages && sudo mount -t hugetlbfs nodev "
			    "/dev/hugepages",
			    "%" PRIu64 " MiB, but no file system (hugetlbfs) gives them out",
			    all_mb);
	else if (access(path, R_OK | W_OK))
		finding_add(findings, FINDING_NOTE, "hugepages",
			    "run as root, or mount with uid=: sudo mount -o remount,uid=$(id -u) "
			    "/dev/hugepages",
			    "%" PRIu64 " MiB at %s, which this user may not write", all_mb, path);
	else
		finding_add(findings, free_mb ? FINDING_OK : FINDING_NOTE, "hugepages",
			    free_mb
				? NULL
				: "end what holds them (sudo fuser -v /dev/hugepages/*), or add "
				  "some: sudo sysctl vm.nr_hugepages=512",
			    "%" PRIu64 " of %" PRIu64 " MiB free, at %s", free_mb, all_mb, path);
}

void doctor_memory(json_t *findings)
{
	FILE *file = fopen("/proc/meminfo", "re");
	char line[128];
	uint64_t kb = 0;

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "MemAvailable: %" SCNu64, &kb) == 1)
			break;
	if (file)
		fclose(file);
	finding_add(findings, kb > 256 << 10 ? FINDING_OK : FINDING_NOTE, "memory",
		    kb > 256 << 10 ? NULL : "end other programs, or add memory",
		    "%" PRIu64 " MiB available", kb / 1024);
}

static void limit_text(rlim_t limit, unsigned unit, char *text, size_t size)
{
	if (limit == RLIM_INFINITY)
		snprintf(text, size, "unlimited");
	else
		snprintf(text, size, "%" PRIu64, (uint64_t)limit / unit);
}

void doctor_limits(json_t *findings)
{
	struct rlimit memlock = {};
	struct rlimit nofile = {};
	char text[32];
	bool enough;

	getrlimit(RLIMIT_MEMLOCK, &memlock);
	getrlimit(RLIMIT_NOFILE, &nofile);
	enough = memlock.rlim_cur == RLIM_INFINITY || memlock.rlim_cur >= 256u << 20;
	limit_text(memlock.rlim_cur, 1 << 20, text, sizeof(text));
	finding_add(findings, enough ? FINDING_OK : FINDING_NOTE, "memlock",
		    enough ? NULL
			   : "ulimit -l unlimited (root, or a line `* - memlock unlimited` in "
			     "/etc/security/limits.conf)",
		    enough ? "memory that may be locked: %s MiB"
			   : "memory that may be locked: %s MiB; network cards by vfio and af_xdp "
			     "need more",
		    text);
	enough = nofile.rlim_cur >= 1024;
	limit_text(nofile.rlim_cur, 1, text, sizeof(text));
	finding_add(findings, enough ? FINDING_OK : FINDING_NOTE, "nofile",
		    enough ? NULL : "ulimit -n 4096",
		    enough ? "open files: %s" : "open files: %s; graphs with many ports need more",
		    text);
}
