// SPDX-License-Identifier: BSD-3-Clause
// The socket of an instance: its name, its folder, and who may connect.

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "control/instance.h"
#include "control/route.h"
#include "port/socket.h"

// For the owner alone, unless a group is let in, whose members must be able to pass.
static int folder_make(const char *folder, bool pass, struct errors *errors)
{
	mode_t mode = !geteuid() ? 0755 : pass ? 0711 : 0700;

	if (!mkdir(folder, mode)) {
		chmod(folder, mode);
	} else if (errno != EEXIST) {
		error_machine(errors, NULL, "cannot create the folder %s: %s", folder,
			      strerror(errno));
		return -1;
	}
	if (!instance_folder_safe(folder)) {
		error_machine(errors, NULL,
			      "the folder %s is not this user's alone, so others could answer "
			      "there: remove it",
			      folder);
		return -1;
	}
	if (pass && geteuid())
		chmod(folder, mode);
	return 0;
}

// Held while a name is chosen and its socket made, so that two that start at once see each other.
static int folder_lock(const char *folder)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0)
		flock(fd, LOCK_EX);
	return fd;
}

static int group_give(const char *path, const char *name, struct errors *errors)
{
	const struct group *group = name ? getgrnam(name) : NULL;

	if (!name)
		return chmod(path, 0600);
	if (!group) {
		error_input(errors, NULL, "there is no group \"%s\"", name);
		return -1;
	}
	if (chown(path, (uid_t)-1, group->gr_gid) || chmod(path, 0660)) {
		error_machine(errors, NULL, "cannot give %s to the group %s: %s", path, name,
			      strerror(errno));
		return -1;
	}
	return 0;
}

// What a dead process left behind is removed.
static int path_clear(const char *path, struct errors *errors)
{
	pid_t pid = 0;

	switch (socket_probe(path, &pid)) {
	case SOCKET_ABSENT:
		return 0;
	case SOCKET_STALE:
		if (!unlink(path))
			return 0;
		break;
	case SOCKET_LIVE:
		error_machine(errors, NULL,
			      "an instance of this name runs already as process %d: choose "
			      "another one with --name",
			      pid);
		return -1;
	default:
		break;
	}
	error_machine(errors, NULL, "%s is in the way of the socket, remove it", path);
	return -1;
}

// A listening socket that nobody else may connect to, from the first moment on.
static int socket_listen(const char *path, const char *group, struct errors *errors)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	mode_t mask;
	int fd;

	if (path_clear(path, errors))
		return -1;
	memcpy(address.sun_path, path, strlen(path) + 1);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	mask = umask(0177);
	if (fd >= 0 && (bind(fd, (struct sockaddr *)&address, sizeof(address)) || listen(fd, 64))) {
		close(fd);
		fd = -1;
	}
	umask(mask);
	if (fd < 0) {
		error_machine(errors, NULL, "cannot listen on %s: %s", path, strerror(errno));
		return -1;
	}
	if (group_give(path, group, errors)) {
		close(fd);
		unlink(path);
		return -1;
	}
	return fd;
}

// The name of the graph file without its folder and ending, as far as it can be a name.
static void name_of_file(const char *file, char *name, size_t size)
{
	const char *base = strrchr(file, '/');
	size_t n = 0;

	base = base ? base + 1 : file;
	for (; base[n] && base[n] != '.' && n + 1 < size; n++)
		name[n] = strchr("_-", base[n]) || (base[n] >= '0' && base[n] <= '9') ||
				  ((base[n] | 32) >= 'a' && (base[n] | 32) <= 'z')
			      ? base[n]
			      : '_';
	name[n] = '\0';
	if (!n)
		snprintf(name, size, "sluice");
}

// The name that was given, or the file's; one that is in use gets the process's number behind it.
static int name_choose(struct control *control, const struct control_options *options,
		       struct errors *errors)
{
	const struct graph *graph = run_graph(control->run);
	const char *given = options->name ? options->name : graph->settings.name;
	char name[40];
	pid_t pid;

	if ((*given || options->name) && !instance_name_valid(given)) {
		error_input(errors, NULL,
			    "\"%s\" cannot be the name of an instance, it should be letters, "
			    "digits, `.`, `_` and `-`",
			    given);
		return -1;
	}
	if (*given) {
		snprintf(control->name, sizeof(control->name), "%s", given);
	} else {
		name_of_file(graph->file, name, sizeof(name));
		snprintf(control->name, sizeof(control->name), "%s", name);
		if (instance_path(name, control->path, sizeof(control->path)) &&
		    socket_probe(control->path, &pid) == SOCKET_LIVE)
			snprintf(control->name, sizeof(control->name), "%s-%d", name, getpid());
	}
	if (instance_path(control->name, control->path, sizeof(control->path)))
		return 0;
	error_machine(errors, NULL, "the path of the socket of \"%s\" would be too long",
		      control->name);
	return -1;
}

int control_listen(struct control *control, const struct control_options *options,
		   struct errors *errors)
{
	const char *folder = instance_folder();
	int lock, fd = -1;

	if (folder_make(folder, options->group, errors))
		return -1;
	lock = folder_lock(folder);
	if (!name_choose(control, options, errors))
		fd = socket_listen(control->path, options->group, errors);
	if (lock >= 0)
		close(lock);
	return fd;
}
