// SPDX-License-Identifier: BSD-3-Clause
// Who is let in over TCP, by the headers of the request.

#include <stdlib.h>
#include <string.h>

#include <microhttpd.h>

#include "control/route.h"

// Who opens /?token=... gets a cookie: a browser's page cannot send the token otherwise.
static bool cookie_give(struct control *control, const char *token, struct answer *answer,
			char cookie[COOKIE_BYTES])
{
	char *copy = strdup(token);
	bool good;

	// In a query + is a blank, of which a token has none.
	for (char *at = copy; at && *at; at++)
		if (*at == ' ')
			*at = '+';
	good = access_token_is(&control->access, copy);
	free(copy);
	if (!good)
		return false;
	snprintf(cookie, COOKIE_BYTES, "%s=%s; Path=/; HttpOnly; SameSite=Strict",
		 control->access.cookie, control->access.token);
	answer->status = MHD_HTTP_SEE_OTHER;
	answer->text = strdup("");
	answer->headers[0] = (struct answer_header){MHD_HTTP_HEADER_SET_COOKIE, cookie};
	answer->headers[1] = (struct answer_header){MHD_HTTP_HEADER_LOCATION, "/"};
	answer->headers[2] = (struct answer_header){MHD_HTTP_HEADER_CACHE_CONTROL, "no-store"};
	answer->headers[3] = (struct answer_header){"Referrer-Policy", "no-referrer"};
	return true;
}

static bool token_known(const struct access *access, struct MHD_Connection *connection)
{
	const char *header =
	    MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_AUTHORIZATION);
	const char *cookie =
	    MHD_lookup_connection_value(connection, MHD_COOKIE_KIND, access->cookie);

	return (header && !strncasecmp(header, "Bearer ", 7) &&
		access_token_is(access, header + 7)) ||
	       access_token_is(access, cookie);
}

bool admit(struct control *control, struct MHD_Connection *connection, const char *url,
	   struct answer *answer, char cookie[COOKIE_BYTES])
{
	const char *host =
	    MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST);
	const char *origin =
	    MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_ORIGIN);
	const char *token = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "token");

	if (!access_host_is(&control->access, host)) {
		answer_error(answer, MHD_HTTP_FORBIDDEN, "\"%s\" is no name of this machine",
			     host ? host : "");
		return false;
	}
	if (origin && !access_origin_is(origin, host)) {
		answer_error(answer, MHD_HTTP_FORBIDDEN, "pages of \"%s\" may not ask", origin);
		return false;
	}
	if (token && !strcmp(url, "/") && cookie_give(control, token, answer, cookie))
		return false;
	if (token_known(&control->access, connection))
		return true;
	answer_error(answer, MHD_HTTP_UNAUTHORIZED,
		     "this needs the token: as the header `Authorization: Bearer TOKEN`, or in a "
		     "browser once as /?token=TOKEN");
	answer->headers[0] =
	    (struct answer_header){MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer realm=\"sluice\""};
	answer->headers[1] = (struct answer_header){MHD_HTTP_HEADER_CACHE_CONTROL, "no-store"};
	return false;
}
