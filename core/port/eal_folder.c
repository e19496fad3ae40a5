// SPDX-License-Identifier: BSD-3-Clause
// Where EAL puts files: nowhere, or for telemetry's socket where dpdk-telemetry.py looks for it,
// and nothing of it stays behind.

#include "port/eal_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDER_TRIES 1000
#define EAL_FOLDER "RUNTIME_DIRECTORY" // the variable by which systemd says where it is

// What was made is removed when the last process that uses it ends: DPDK removes the socket itself
// then.
static char made[2][PATH_MAX];
static int used = -1; // the folder, locked as shared for as long as this process lives

static bool folder_own(const char *path, bool private)
{
	struct stat info;

	if (mkdir(path, 0700) && errno != EEXIST)
		return false;
	return !lstat(path, &info) && S_ISDIR(info.st_mode) && info.st_uid == geteuid() &&
	       !(info.st_mode & (S_IWGRP | S_IWOTH)) && (!private || !access(path, W_OK | X_OK));
}

static void folders_remove(void)
{
	if (used >= 0 && flock(used, LOCK_EX | LOCK_NB))
		return;
	rmdir(made[1]);
	rmdir(made[0]);
}

// Makes the folder and holds it; another process may remove it at any moment until it is locked.
static bool folder_hold(void)
{
	struct stat info;

	for (unsigned i = 0; i < FOLDER_TRIES; i++) {
		if (!folder_own(made[0], false) || !folder_own(made[1], true)) {
			if (errno == ENOENT)
				continue;
			return false;
		}
		if (used >= 0)
			close(used);
		used = open(made[1], O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (used >= 0 && !flock(used, LOCK_SH) && !fstat(used, &info) && info.st_nlink)
			return true;
	}
	return false;
}

const char *eal_folder_base(void)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");

	if (!geteuid())
		return "/var/run";
	return runtime && *runtime == '/' ? runtime : "/tmp";
}

bool eal_folder_make(void)
{
	static bool cleaned;

	snprintf(made[0], sizeof(made[0]), "%s/dpdk", eal_folder_base());
	snprintf(made[1], sizeof(made[1]), "%.4000s/" EAL_PREFIX, made[0]);
	if (!folder_hold()) {
		rmdir(made[0]);
		return false;
	}
	// DPDK's own call of atexit() comes later, and so is done before this.
	if (!cleaned && atexit(folders_remove))
		return false;
	cleaned = true;
	return true;
}

void eal_folder_show(struct eal_folder *folder, const char *place)
{
	const char *now = getenv(EAL_FOLDER);

	folder->before = now ? strdup(now) : NULL;
	setenv(EAL_FOLDER, place, 1);
}

void eal_folder_restore(struct eal_folder *folder)
{
	if (folder->before)
		setenv(EAL_FOLDER, folder->before, 1);
	else
		unsetenv(EAL_FOLDER);
	free(folder->before);
}
