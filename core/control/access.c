// SPDX-License-Identifier: BSD-3-Clause
// The socket of TCP, its token, and what of a request shows where it comes from.

#include "control/access.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define TOKEN_MIN 16
#define TOKEN_BYTES 32 // of a token made at random
#define KEEPALIVE_SECONDS 30

// "HOST:PORT", "[HOST]:PORT"; the host may not be left out, so that nobody listens to all the world
// by mistake.
static bool address_split(const char *text, char *host, size_t size, char port[6])
{
	const char *colon = strrchr(text, ':'), *begin = text, *end = colon;
	size_t n;

	if (!colon || !colon[1] || strlen(colon + 1) > 5 ||
	    strspn(colon + 1, "0123456789") != strlen(colon + 1) || atoi(colon + 1) > 65535)
		return false;
	if (*begin == '[') {
		begin++;
		end--;
		if (end <= begin || *end != ']')
			return false;
	} else if (memchr(begin, ':', (size_t)(end - begin))) {
		return false;
	}
	n = (size_t)(end - begin);
	if (!n || n >= size)
		return false;
	memcpy(host, begin, n);
	host[n] = '\0';
	strcpy(port, colon + 1);
	return true;
}

static bool is_loopback(const struct sockaddr *address)
{
	if (address->sa_family == AF_INET)
		return ntohl(((const struct sockaddr_in *)address)->sin_addr.s_addr) >> 24 == 127;
	return address->sa_family == AF_INET6 &&
	       IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)address)->sin6_addr);
}

static int socket_open(const struct addrinfo *at)
{
	const int on = 1, seconds = KEEPALIVE_SECONDS;
	int fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	// Those that are accepted inherit these: a machine that has gone is found out.
	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &seconds, sizeof(seconds));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &seconds, sizeof(seconds));
	if (at->ai_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
	if (!bind(fd, at->ai_addr, at->ai_addrlen) && !listen(fd, 64))
		return fd;
	close(fd);
	return -1;
}

// The port may have been left to the system.
static void url_make(struct access *access, int fd)
{
	struct sockaddr_storage address = {0};
	socklen_t length = sizeof(address);
	bool literal = strchr(access->host, ':');
	char port[8] = "0";

	if (!getsockname(fd, (struct sockaddr *)&address, &length))
		getnameinfo((struct sockaddr *)&address, length, NULL, 0, port, sizeof(port),
			    NI_NUMERICSERV);
	snprintf(access->url, sizeof(access->url), "http://%s%s%s:%s", literal ? "[" : "",
		 access->host, literal ? "]" : "", port);
	snprintf(access->cookie, sizeof(access->cookie), "sluice_%s", port);
}

// What may stand in a header, a cookie and a path alike.
static bool token_valid(const char *text, size_t n)
{
	static const char letters[] =
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~+/=";

	return n >= TOKEN_MIN && n <= TOKEN_MAX && strspn(text, letters) == n;
}

static int token_read(struct access *access, const char *file, struct errors *errors)
{
	char text[TOKEN_MAX + 16];
	int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat info;
	ssize_t n = -1;

	if (fd >= 0 && !fstat(fd, &info))
		n = read(fd, text, sizeof(text) - 1);
	if (n < 0) {
		error_machine(errors, NULL, "cannot read the token in %s: %s", file,
			      strerror(errno));
	} else if (info.st_mode & S_IRWXO) {
		error_input(errors, NULL, "others can read the token in %s: chmod 600 %s", file,
			    file);
		n = -1;
	}
	if (fd >= 0)
		close(fd);
	if (n < 0)
		return -1;
	while (n && strchr("\r\n \t", text[n - 1]))
		n--;
	text[n] = '\0';
	if (!token_valid(text, (size_t)n)) {
		error_input(errors, NULL,
			    "%s has no token in it: that is one word of %d to %d letters, digits "
			    "and -._~+/=",
			    file, TOKEN_MIN, TOKEN_MAX);
		return -1;
	}
	strcpy(access->token, text);
	return 0;
}

// The folder is the user's alone, and so is the file.
static int token_make(struct access *access, const char *file, struct errors *errors)
{
	uint8_t bytes[TOKEN_BYTES];
	int fd = -1;
	bool good;

	if (getrandom(bytes, sizeof(bytes), 0) == (ssize_t)sizeof(bytes)) {
		unlink(file);
		fd = open(file, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	}
	for (size_t i = 0; i < sizeof(bytes); i++)
		sprintf(access->token + 2 * i, "%02x", bytes[i]);
	good = fd >= 0 && dprintf(fd, "%s\n", access->token) > 0;
	if (fd >= 0)
		close(fd);
	if (good) {
		snprintf(access->file, sizeof(access->file), "%s", file);
		return 0;
	}
	error_machine(errors, NULL, "cannot write a token to %s: %s", file, strerror(errno));
	return -1;
}

static int resolve(struct access *access, const char *address, struct addrinfo **list,
		   struct errors *errors)
{
	const struct addrinfo wanted = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
	char port[6];
	int failed;

	if (!address_split(address, access->host, sizeof(access->host), port)) {
		error_input(errors, NULL,
			    "\"%s\" is not where one can listen, it should be ADDRESS:PORT, as "
			    "127.0.0.1:8080 or [::1]:8080",
			    address);
		return -1;
	}
	failed = getaddrinfo(access->host, port, &wanted, list);
	if (!failed)
		return 0;
	error_machine(errors, NULL, "cannot listen at %s: %s", address, gai_strerror(failed));
	return -1;
}

int access_listen(struct access *access, const char *address, const char *token_file,
		  const char *made, struct errors *errors)
{
	struct addrinfo *list;
	int fd = -1;

	*access = (struct access){0};
	if (resolve(access, address, &list, errors))
		return -1;
	if (!token_file && !is_loopback(list->ai_addr)) {
		error_input(errors, NULL,
			    "%s can be reached from other machines: choose the token that they "
			    "must know, with --token-file",
			    address);
	} else if (token_file ? !token_read(access, token_file, errors)
			      : !token_make(access, made, errors)) {
		fd = socket_open(list);
		if (fd >= 0)
			url_make(access, fd);
		else
			error_machine(errors, NULL, "cannot listen at %s: %s", address,
				      strerror(errno));
	}
	freeaddrinfo(list);
	if (fd < 0)
		access_close(access);
	return fd;
}

void access_close(struct access *access)
{
	if (*access->file)
		unlink(access->file);
	*access->file = '\0';
}

// Takes as long for a token that is nearly right as for one that is all wrong.
bool access_token_is(const struct access *access, const char *text)
{
	size_t n = strlen(access->token), given = text ? strlen(text) : 0;
	volatile uint8_t wrong = n != given;

	for (size_t i = 0; given && i < n; i++)
		wrong |= (uint8_t)(access->token[i] ^ text[i % given]);
	return given && !wrong;
}

bool access_host_is(const struct access *access, const char *host)
{
	uint8_t address[sizeof(struct in6_addr)];
	char name[256], own[256] = "";
	size_t n;

	if (!host)
		return false;
	if (*host == '[') {
		n = strcspn(++host, "]");
		if (!host[n])
			return false;
	} else {
		n = strcspn(host, ":");
	}
	if (!n || n >= sizeof(name))
		return false;
	memcpy(name, host, n);
	name[n] = '\0';
	if (inet_pton(AF_INET, name, address) == 1 || inet_pton(AF_INET6, name, address) == 1)
		return true;
	gethostname(own, sizeof(own) - 1);
	return !strcasecmp(name, "localhost") || !strcasecmp(name, access->host) ||
	       !strcasecmp(name, own);
}

bool access_origin_is(const char *origin, const char *host)
{
	const char *at = origin;

	if (!strncmp(at, "http://", 7))
		at += 7;
	else if (!strncmp(at, "https://", 8))
		at += 8;
	else
		return false;
	return !strcasecmp(at, host);
}
