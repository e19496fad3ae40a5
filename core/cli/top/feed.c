// SPDX-License-Identifier: BSD-3-Clause
// Samples of an instance, over its control socket.

#include "cli/top/feed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ASK_MS 1000 // after which an instance that says nothing is taken for one that has gone

bool feed_open(struct feed *feed, const char *name, struct errors *errors)
{
	feed->client = client_open(name, errors);
	if (!feed->client)
		return false;
	strcpy(feed->name, client_instance(feed->client)->name);
	return true;
}

void feed_close(struct feed *feed)
{
	client_close(feed->client);
	feed->client = NULL;
}

static json_t *feed_ask(struct feed *feed, const char *path)
{
	const struct client_request request = {.method = "GET", .path = path, .timeout_ms = ASK_MS};
	struct errors *errors = errors_new();
	struct client_reply reply = {0};
	json_t *json = NULL;

	if (client_ask(feed->client, &request, &reply, errors)) {
		json = json_incref(reply.json);
		client_reply_free(&reply);
	}
	errors_free(errors);
	return json;
}

static json_t *node_ask(struct feed *feed, const char *node)
{
	char *escaped = client_escape(feed->client, node), *path = NULL;
	json_t *json = NULL;

	if (asprintf(&path, "/nodes/%s", escaped) >= 0)
		json = feed_ask(feed, path);
	free(path);
	free(escaped);
	return json;
}

bool feed_sample(struct feed *feed, const char *node, struct sample *sample)
{
	*sample = (struct sample){0};
	if (!feed->client) {
		struct errors *errors = errors_new();

		feed->client = client_open(feed->name, errors);
		errors_free(errors);
	}
	if (!feed->client)
		return false;
	sample->stats = feed_ask(feed, "/stats");
	if (sample->stats)
		sample->links = feed_ask(feed, "/links");
	if (sample->links && node)
		sample->node = node_ask(feed, node);
	if (sample->links && json_is_object(sample->stats))
		return true;
	sample_free(sample);
	feed_close(feed);
	return false;
}

void sample_free(struct sample *sample)
{
	json_decref(sample->stats);
	json_decref(sample->links);
	json_decref(sample->node);
	*sample = (struct sample){0};
}
