// SPDX-License-Identifier: BSD-3-Clause
// The page: files of core/control/page, which lie in the program, served to browsers. They ask the
// same routes as everybody else.

#include <stdlib.h>
#include <string.h>

#include <microhttpd.h>

#include "control/route.h"
#include "value/embed.h"

#define PAGE(SYMBOL, NAME, SUM)                                                                    \
	EMBED(SYMBOL, "core/control/page/" NAME)                                                   \
	EMBED(SYMBOL##_gz, PAGE_PACKED NAME ".gz")
#include "page_list.h"
#undef PAGE

struct page_file {
	const char *name;
	const char *tag; // an entity tag, made from the bytes
	const char *bytes, *end;
	const char *packed, *packed_end; // by gzip
};

#define PAGE(SYMBOL, NAME, SUM)                                                                    \
	{NAME, "\"" SUM "\"", SYMBOL, SYMBOL##_end, SYMBOL##_gz, SYMBOL##_gz_end},
static const struct page_file page_files[] = {
#include "page_list.h"
    {0},
};

static const struct {
	const char *ending;
	const char *type;
} page_types[] = {
    {".html", "text/html; charset=utf-8"},
    {".css", "text/css; charset=utf-8"},
    {".js", "text/javascript; charset=utf-8"},
    {".svg", "image/svg+xml"},
};

// Nothing comes from elsewhere, nothing stands in the page itself, and no other page frames it.
static const char page_policy[] = "default-src 'self'; base-uri 'none'; object-src 'none'; "
				  "form-action 'none'; frame-ancestors 'none'";

static const struct page_file *page_find(const char *name)
{
	for (const struct page_file *file = page_files; file->name; file++)
		if (!strcmp(file->name, name))
			return file;
	return NULL;
}

static const char *page_type(const char *name)
{
	const char *ending = strrchr(name, '.');

	for (size_t i = 0; ending && i < sizeof(page_types) / sizeof(*page_types); i++)
		if (!strcmp(ending, page_types[i].ending))
			return page_types[i].type;
	return "application/octet-stream";
}

// How much a client wants what a header of its names, from 0 to 1; -1: it does not name it. Such a
// header is a list of `NAME;q=0.5`.
static double header_weight(const char *header, const char *name)
{
	size_t n = strlen(name);

	while (header && *header) {
		size_t length = strcspn(header, ",");
		const char *q = memmem(header, length, ";q=", 3);

		if (length >= n && !strncasecmp(header, name, n) &&
		    (length == n || strchr("; \t", header[n])))
			return q ? strtod(q + 3, NULL) : 1;
		header += length;
		header += strspn(header, ", \t");
	}
	return -1;
}

// Who has it already need not be sent it again: the header is a list of tags, or `*`.
static bool tag_known(const struct request *request, const char *tag)
{
	const char *header = request->header(request, MHD_HTTP_HEADER_IF_NONE_MATCH);

	return header && (!strcmp(header, "*") || strstr(header, tag));
}

bool page_wanted(const struct request *request)
{
	const char *accept = request->header(request, MHD_HTTP_HEADER_ACCEPT);
	double html = header_weight(accept, "text/html");

	return html > 0 && html > header_weight(accept, "application/json");
}

static void page_send(const struct request *request, const struct page_file *file,
		      struct answer *answer)
{
	const char *coding = request->header(request, MHD_HTTP_HEADER_ACCEPT_ENCODING);
	bool packed = header_weight(coding, "gzip") > 0;
	struct answer_header *header = answer->headers;

	*header++ = (struct answer_header){MHD_HTTP_HEADER_ETAG, file->tag};
	*header++ = (struct answer_header){MHD_HTTP_HEADER_CACHE_CONTROL, "no-cache"};
	*header++ = (struct answer_header){MHD_HTTP_HEADER_VARY, "Accept, Accept-Encoding"};
	*header++ = (struct answer_header){"Content-Security-Policy", page_policy};
	*header++ = (struct answer_header){"X-Content-Type-Options", "nosniff"};
	*header++ = (struct answer_header){"Referrer-Policy", "no-referrer"};
	answer->type = page_type(file->name);
	answer->fixed = file->bytes;
	if (tag_known(request, file->tag)) {
		answer->status = MHD_HTTP_NOT_MODIFIED;
		return;
	}
	answer->n_fixed = (size_t)(file->end - file->bytes);
	if (!packed)
		return;
	*header = (struct answer_header){MHD_HTTP_HEADER_CONTENT_ENCODING, "gzip"};
	answer->fixed = file->packed;
	answer->n_fixed = (size_t)(file->packed_end - file->packed);
}

void serve_page(const struct request *request, struct answer *answer)
{
	const char *const *parts = request->parts;
	struct arena *arena = arena_new();
	const char *name = "index.html";
	const struct page_file *file;

	if (parts[0])
		name = parts[1] ? arena_printf(arena, "%s/%s", parts[0], parts[1]) : parts[0];
	file = page_find(name);
	if (file)
		page_send(request, file, answer);
	else
		answer_error(answer, MHD_HTTP_NOT_FOUND, "the page has no part \"%s\"", name);
	arena_free(arena);
}
