// SPDX-License-Identifier: BSD-3-Clause
// libcurl, loaded by what sends requests and by nothing else: with all that it needs it takes as
// long to load as the rest of the program, which every other command would wait for.

#ifndef SLUICE_CONTROL_CURL_H
#define SLUICE_CONTROL_CURL_H

#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

#include "value/errors.h"

struct curl {
	typeof(&curl_easy_init) init;
	typeof(&curl_easy_cleanup) cleanup;
	typeof(&curl_easy_reset) reset;
	typeof(&curl_easy_setopt) setopt;
	typeof(&curl_easy_perform) perform;
	typeof(&curl_easy_getinfo) getinfo;
	typeof(&curl_easy_strerror) strerror;
	typeof(&curl_easy_escape) escape;
	typeof(&curl_free) free;
	typeof(&curl_multi_init) multi_init;
	typeof(&curl_multi_cleanup) multi_cleanup;
	typeof(&curl_multi_add_handle) multi_add;
	typeof(&curl_multi_remove_handle) multi_remove;
	typeof(&curl_multi_perform) multi_perform;
	typeof(&curl_multi_poll) multi_poll;
	typeof(&curl_multi_info_read) multi_read;
};

// false with the reason in errors, behind `what` cannot be done without it.
bool curl_load(struct curl *, const char *what, struct errors *);

#endif
