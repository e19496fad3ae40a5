// SPDX-License-Identifier: BSD-3-Clause
// Requests over the control socket of an instance.

#include "control/client.h"

#include <stdlib.h>
#include <string.h>

#include "control/curl.h"
#include "value/arena.h"
#include "value/value.h"

#define CONNECT_SECONDS 5L
#define STREAM_BYTES (512L << 10) // of a stream, that are read at once

// What is no fault of a file.
static const struct place none = {.file = "sluice"};

struct client {
	struct curl api;
	CURL *curl;
	struct instance instance;
};

void client_none_runs(struct errors *errors)
{
	error_machine_at(errors, none,
			 "no instance of sluice runs for this user (none answers in %s); `sluice "
			 "run FILE` starts one",
			 instance_folder());
}

// The instance that is meant, among those that run.
static const struct instance *instance_choose(const struct instance *list, unsigned n,
					      const char *name, struct errors *errors)
{
	const char *names[32] = {0}, *near;
	unsigned n_names = n < 32 ? n : 32;

	for (unsigned i = 0; i < n; i++)
		if (name && !strcmp(list[i].name, name))
			return &list[i];
	for (unsigned i = 0; i < n_names; i++)
		names[i] = list[i].name;
	near = name ? suggest(name, names, n_names) : NULL;
	if (!n)
		client_none_runs(errors);
	else if (near)
		error_machine_at(errors, none, "no instance \"%s\" runs; did you mean \"%s\"?",
				 name, near);
	else if (name)
		error_machine_at(errors, none, "no instance \"%s\" runs, but \"%s\"%s does", name,
				 list[0].name, n > 1 ? " and others" : "");
	else if (n > 1)
		error_at(errors, none,
			 "%u instances run: choose one with --name (`sluice ps` lists them)", n);
	else
		return list;
	return NULL;
}

struct client *client_to(const struct instance *instance, struct errors *errors)
{
	struct client *client = memory_new(1, sizeof(*client));

	client->instance = *instance;
	if (!curl_load(&client->api, "cannot ask an instance", errors))
		goto failed;
	client->curl = client->api.init();
	if (client->curl)
		return client;
	error_machine_at(errors, none, "there is no memory for a request");
failed:
	free(client);
	return NULL;
}

struct client *client_open(const char *name, struct errors *errors)
{
	struct instance *list;
	unsigned n = instance_list(&list);
	const struct instance *chosen = instance_choose(list, n, name, errors);
	struct client *client = chosen ? client_to(chosen, errors) : NULL;

	free(list);
	return client;
}

void client_close(struct client *client)
{
	if (!client)
		return;
	client->api.cleanup(client->curl);
	free(client);
}

static size_t body_write(char *data, size_t size, size_t n, void *to)
{
	return fwrite(data, size, n, to) * size;
}

static const char *json_text(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

// What the instance said is said again, at the places that it names.
static void errors_take(const json_t *list, bool machine, const char *fault_file,
			struct errors *errors)
{
	const json_t *error;
	size_t i;

	json_array_foreach (list, i, error) {
		const char *message = json_text(error, "message"), *file = json_text(error, "file");
		struct place place = {.file = fault_file ? fault_file : file ? file : "sluice"};

		if (!fault_file) {
			place.line = (unsigned)json_integer_value(json_object_get(error, "line"));
			place.col = (unsigned)json_integer_value(json_object_get(error, "column"));
		}
		if (!message)
			message = "an error without a message";
		if (machine)
			error_machine_at(errors, place, "%s", message);
		else
			error_at(errors, place, "%s", message);
	}
}

static void request_set_up(struct client *client, const struct client_request *request,
			   const char *url, curl_write_callback write, void *to)
{
	const struct curl *api = &client->api;
	CURL *curl = client->curl;

	api->reset(curl);
	api->setopt(curl, CURLOPT_URL, url);
	api->setopt(curl, CURLOPT_UNIX_SOCKET_PATH, client->instance.path);
	api->setopt(curl, CURLOPT_CUSTOMREQUEST, request->method);
	api->setopt(curl, CURLOPT_CONNECTTIMEOUT, CONNECT_SECONDS);
	api->setopt(curl, CURLOPT_NOSIGNAL, 1L);
	api->setopt(curl, CURLOPT_WRITEFUNCTION, write);
	api->setopt(curl, CURLOPT_WRITEDATA, to);
	api->setopt(curl, CURLOPT_TIMEOUT_MS, request->timeout_ms);
	if (request->body) {
		api->setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->n_body);
		api->setopt(curl, CURLOPT_POSTFIELDS, request->body);
	}
}

static bool request_send(struct client *client, const struct client_request *request,
			 struct client_reply *reply, struct errors *errors)
{
	size_t n = 0;
	FILE *to = open_memstream(&reply->text, &n);
	char *url = NULL;
	CURLcode code = CURLE_OUT_OF_MEMORY;

	if (to && asprintf(&url, "http://sluice%s", request->path) >= 0) {
		request_set_up(client, request, url, body_write, to);
		code = client->api.perform(client->curl);
		client->api.getinfo(client->curl, CURLINFO_RESPONSE_CODE, &reply->status);
	}
	if (to)
		fclose(to);
	free(url);
	if (!code)
		return true;
	error_machine_at(errors, none, "instance \"%s\" does not answer: %s", client->instance.name,
			 client->api.strerror(code));
	return false;
}

// What the answer means, if it is no success: false.
static bool reply_good(struct client *client, const char *fault_file, struct client_reply *reply,
		       struct errors *errors)
{
	const json_t *list;

	reply->json = json_loads(reply->text, JSON_DECODE_ANY, NULL);
	list = json_object_get(reply->json, "errors");
	if (reply->status < 400)
		return true;
	if (json_array_size(list))
		errors_take(list, reply->status >= 500, fault_file, errors);
	else
		error_machine_at(errors, none, "instance \"%s\" answers with the status %ld",
				 client->instance.name, reply->status);
	client_reply_free(reply);
	return false;
}

bool client_ask(struct client *client, const struct client_request *request,
		struct client_reply *reply, struct errors *errors)
{
	*reply = (struct client_reply){0};
	if (!request_send(client, request, reply, errors)) {
		client_reply_free(reply);
		return false;
	}
	return reply_good(client, request->fault_file, reply, errors);
}

// A stream that is being taken. An answer that is none, but says what is wrong, is gathered.
struct taking {
	struct client *client;
	struct client_stream *stream;
	FILE *fault;
	bool enough;
};

static size_t stream_write(char *data, size_t size, size_t n, void *to)
{
	struct taking *at = to;

	at->client->api.getinfo(at->client->curl, CURLINFO_RESPONSE_CODE, &at->stream->status);
	if (at->stream->status >= 400)
		return fwrite(data, size, n, at->fault) * size;
	at->enough = !at->stream->take(at->stream->to, data, size * n);
	return at->enough ? 0 : size * n;
}

static size_t stream_header(char *data, size_t size, size_t n, void *to)
{
	static const char name[] = "Content-Location: ";
	struct client_stream *stream = ((struct taking *)to)->stream;
	size_t head = sizeof(name) - 1, length = size * n;

	if (length > head && !strncasecmp(data, name, head)) {
		length -= head;
		length = length < sizeof(stream->location) ? length : sizeof(stream->location) - 1;
		memcpy(stream->location, data + head, length);
		stream->location[length] = '\0';
		stream->location[strcspn(stream->location, "\r\n")] = '\0';
	}
	return size * n;
}

// Until the answer has ended. What ended it is curl's.
static CURLcode stream_run(struct client *client, CURLM *multi, struct client_stream *stream)
{
	const struct curl *api = &client->api;
	bool stopped = false;
	int running = 1, left;

	while (!api->multi_perform(multi, &running) && running) {
		struct curl_waitfd stop = {.fd = stream->stop_fd, .events = CURL_WAIT_POLLIN};

		api->multi_poll(multi, &stop, stream->stop_fd >= 0 && !stopped ? 1 : 0, 1000, NULL);
		if (!stop.revents)
			continue;
		stopped = true;
		stream->stop(stream->to);
	}
	for (CURLMsg *message; (message = api->multi_read(multi, &left));)
		if (message->msg == CURLMSG_DONE)
			return message->data.result;
	return CURLE_OUT_OF_MEMORY;
}

bool client_stream(struct client *client, struct client_stream *stream, struct errors *errors)
{
	const struct curl *api = &client->api;
	struct client_reply reply = {0};
	struct taking at = {.client = client, .stream = stream};
	CURLM *multi = api->multi_init();
	CURLcode code = CURLE_OUT_OF_MEMORY;
	char *url = NULL;
	size_t n = 0;
	bool good = false;

	at.fault = open_memstream(&reply.text, &n);
	if (multi && at.fault && asprintf(&url, "http://sluice%s", stream->request.path) >= 0) {
		request_set_up(client, &stream->request, url, stream_write, &at);
		api->setopt(client->curl, CURLOPT_HEADERFUNCTION, stream_header);
		api->setopt(client->curl, CURLOPT_HEADERDATA, &at);
		api->setopt(client->curl, CURLOPT_BUFFERSIZE, STREAM_BYTES);
		api->multi_add(multi, client->curl);
		code = stream_run(client, multi, stream);
		api->multi_remove(multi, client->curl);
	}
	if (at.fault)
		fclose(at.fault);
	api->multi_cleanup(multi);
	free(url);
	reply.status = stream->status;
	if (!code || at.enough)
		good = reply_good(client, stream->request.fault_file, &reply, errors);
	else
		error_machine_at(errors, none, "instance \"%s\" does not answer: %s",
				 client->instance.name, api->strerror(code));
	client_reply_free(&reply);
	return good;
}

void client_reply_free(struct client_reply *reply)
{
	json_decref(reply->json);
	free(reply->text);
	*reply = (struct client_reply){0};
}

char *client_escape(struct client *client, const char *text)
{
	char *escaped = client->api.escape(client->curl, text, 0);
	char *copy = escaped ? strdup(escaped) : NULL;

	client->api.free(escaped);
	return copy ? copy : memory_new(1, 1);
}

const struct instance *client_instance(const struct client *client)
{
	return &client->instance;
}
