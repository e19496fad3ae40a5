// SPDX-License-Identifier: BSD-3-Clause
// Loads libcurl.

#include "control/curl.h"

#include <dlfcn.h>
#include <string.h>

bool curl_load(struct curl *curl, const char *what, struct errors *errors)
{
	static const struct place none = {.file = "sluice"};
	void *library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
	const struct {
		const char *name;
		void *to;
	} rows[] = {
	    {"curl_easy_init", &curl->init},
	    {"curl_easy_cleanup", &curl->cleanup},
	    {"curl_easy_reset", &curl->reset},
	    {"curl_easy_setopt", &curl->setopt},
	    {"curl_easy_perform", &curl->perform},
	    {"curl_easy_getinfo", &curl->getinfo},
	    {"curl_easy_strerror", &curl->strerror},
	    {"curl_easy_escape", &curl->escape},
	    {"curl_free", &curl->free},
	    {"curl_multi_init", &curl->multi_init},
	    {"curl_multi_cleanup", &curl->multi_cleanup},
	    {"curl_multi_add_handle", &curl->multi_add},
	    {"curl_multi_remove_handle", &curl->multi_remove},
	    {"curl_multi_perform", &curl->multi_perform},
	    {"curl_multi_poll", &curl->multi_poll},
	    {"curl_multi_info_read", &curl->multi_read},
	};

	for (size_t i = 0; library && i < sizeof(rows) / sizeof(*rows); i++) {
		void *symbol = dlsym(library, rows[i].name);

		if (!symbol)
			library = NULL;
		memcpy(rows[i].to, &symbol, sizeof(symbol));
	}
	if (library)
		return true;
	error_machine_at(errors, none, "%s: %s", what, dlerror());
	return false;
}
