// SPDX-License-Identifier: BSD-3-Clause
// Names, folders and sockets of instances.

#include "control/instance.h"

#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "graph/graph.h"
#include "port/socket.h"
#include "value/arena.h"

#define SUFFIX ".sock"
#define ROOT_FOLDER "/run/sluice"

const char *instance_folder(void)
{
	static char folder[PATH_MAX];
	const char *given = getenv("SLUICE_SOCKETS"), *runtime = getenv("XDG_RUNTIME_DIR");

	if (given && *given)
		snprintf(folder, sizeof(folder), "%s", given);
	else if (!geteuid())
		return ROOT_FOLDER;
	else if (runtime && *runtime == '/')
		snprintf(folder, sizeof(folder), "%s/sluice", runtime);
	else
		snprintf(folder, sizeof(folder), "/tmp/sluice-%u", geteuid());
	return folder;
}

bool instance_folder_safe(const char *folder)
{
	struct stat info;

	return !lstat(folder, &info) && S_ISDIR(info.st_mode) &&
	       (info.st_uid == geteuid() || !info.st_uid) && !(info.st_mode & (S_IWGRP | S_IWOTH));
}

bool instance_name_valid(const char *name)
{
	return graph_name_valid(name);
}

static bool path_in(const char *folder, const char *name, char *path, size_t size)
{
	int n = snprintf(path, size, "%s/%s%s", folder, name, SUFFIX);

	return n > 0 && (size_t)n < size;
}

bool instance_path(const char *name, char *path, size_t size)
{
	return path_in(instance_folder(), name, path, size);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct instance *)a)->name, ((const struct instance *)b)->name);
}

static bool instance_read(const char *folder, const char *file, struct instance *instance)
{
	size_t n = strlen(file), suffix = strlen(SUFFIX);

	if (n <= suffix || n - suffix > INSTANCE_NAME_MAX || strcmp(file + n - suffix, SUFFIX) != 0)
		return false;
	*instance = (struct instance){0};
	memcpy(instance->name, file, n - suffix);
	return instance_name_valid(instance->name) &&
	       path_in(folder, instance->name, instance->path, sizeof(instance->path)) &&
	       socket_probe(instance->path, &instance->pid) == SOCKET_LIVE;
}

static void folder_read(const char *path, struct instance **list, unsigned *n)
{
	DIR *folder = instance_folder_safe(path) ? opendir(path) : NULL;
	struct dirent *entry;

	while (folder && (entry = readdir(folder))) {
		struct instance instance;

		if (!instance_read(path, entry->d_name, &instance))
			continue;
		*list = memory_grow(*list, *n + 1, sizeof(**list));
		(*list)[(*n)++] = instance;
	}
	if (folder)
		closedir(folder);
}

unsigned instance_list(struct instance **list)
{
	unsigned n = 0;

	*list = NULL;
	folder_read(instance_folder(), list, &n);
	if (!getenv("SLUICE_SOCKETS") && geteuid())
		folder_read(ROOT_FOLDER, list, &n);
	if (n)
		qsort(*list, n, sizeof(**list), by_name);
	return n;
}
