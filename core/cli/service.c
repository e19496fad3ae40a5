// SPDX-License-Identifier: BSD-3-Clause
// A run as a service. What is told to systemd is nothing where systemd did not start it.

#include "cli/service.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <systemd/sd-daemon.h>

#include "control/influx.h"
#include "control/telemetry.h"
#include "value/table.h"

#define INFLUX_NS 10000000000ULL

void service_init(struct service *service)
{
	service->level = LOG_LEVEL_NOTE;
	service->influx_ns = INFLUX_NS;
}

// The index of a word among those that may be.
static unsigned word_option(const char *option, const char *arg, const char *const words[],
			    struct argp_state *state)
{
	const char *near;
	unsigned n = 0;

	for (; words[n]; n++)
		if (!strcmp(words[n], arg))
			return n;
	near = suggest(arg, (const char **)(uintptr_t)words, n);
	argp_error(state, "%s: \"%s\" is none of %s, %s, %s%s%s%s%s%s", option, arg, words[0],
		   words[1], words[2], n > 3 ? ", " : "", n > 3 ? words[3] : "",
		   near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
	return 0;
}

error_t service_take(struct service *service, int key, char *arg, struct argp_state *state)
{
	struct duration duration;
	const char *why;

	switch (key) {
	case SERVICE_LOG:
		service->target = word_option("--log", arg, log_targets, state);
		return 0;
	case SERVICE_LOG_LEVEL:
		service->level = word_option("--log-level", arg, log_levels, state);
		return 0;
	case SERVICE_INFLUX:
		if (strncmp(arg, "http://", 7) != 0 && strncmp(arg, "https://", 8) != 0)
			argp_error(state,
				   "--influx: \"%s\" is no URL of HTTP, it should be like "
				   "http://host:8086/write?db=sluice",
				   arg);
		service->influx = arg;
		return 0;
	case SERVICE_INFLUX_INTERVAL:
		if (!parse_duration(arg, &duration, &why))
			argp_error(state, "--influx-interval: \"%s\" %s", arg, why);
		if (duration.ns < 100000000)
			argp_error(state,
				   "--influx-interval: \"%s\" is out of range, it should be 100ms "
				   "or more",
				   arg);
		service->influx_ns = duration.ns;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int service_open_log(const struct service *service, struct errors *errors)
{
	return log_open(service->target, service->level, errors);
}

// What `systemctl status` shows, behind what else is told.
static void status_tell(struct service *service, const char *told, const char *more)
{
	const struct graph *graph = run_graph(service->run);
	struct run_changes changes;

	run_change_counts(service->run, &changes);
	service->changes = changes.made;
	sd_notifyf(0, "%sSTATUS=runs %s: %u node%s, %u port%s, %u worker%s%s", told, graph->file,
		   graph->n_nodes, graph->n_nodes == 1 ? "" : "s", graph->n_ports,
		   graph->n_ports == 1 ? "" : "s", graph->n_workers,
		   graph->n_workers == 1 ? "" : "s", more);
}

int service_start(struct service *service, struct run *run, const char *instance,
		  struct errors *errors)
{
	uint64_t microseconds = 0;

	service->run = run;
	snprintf(service->instance, sizeof(service->instance), "%s", instance);
	if (service->influx) {
		service->push = influx_push_start(service->influx, errors);
		if (!service->push)
			return -1;
	}
	telemetry_begin(run, service->instance);
	// Told twice as often as it must be.
	if (sd_watchdog_enabled(0, &microseconds) > 0)
		service->watchdog_ns = microseconds * 1000 / 2;
	status_tell(service, "READY=1\n", "");
	return 0;
}

static void push_counters(struct service *service)
{
	const char *const tags[] = {"instance", service->instance, NULL};
	struct influx_counts counts;
	struct influx_line line;
	json_t *stats = run_json(service->run);
	char *text = NULL;
	size_t n;
	FILE *to = open_memstream(&text, &n);

	if (to) {
		influx_lines(stats, service->instance, to);
		influx_push_counts(service->push, &counts);
		influx_begin(&line, to, "sluice_export", tags);
		influx_integer(&line, "written", (json_int_t)counts.written);
		influx_integer(&line, "dropped", (json_int_t)counts.dropped);
		influx_integer(&line, "failures", (json_int_t)counts.failures);
		influx_end(&line, (uint64_t)json_integer_value(json_object_get(stats, "time_ns")));
		fclose(to);
	}
	json_decref(stats);
	if (text)
		influx_push_give(service->push, text);
}

void service_tick(struct service *service, uint64_t now_ns)
{
	struct run_changes changes;

	telemetry_tick();
	if (service->watchdog_ns && now_ns >= service->next_watchdog) {
		sd_notify(0, "WATCHDOG=1");
		service->next_watchdog = now_ns + service->watchdog_ns;
	}
	run_change_counts(service->run, &changes);
	if (changes.made != service->changes)
		status_tell(service, "", "");
	if (service->push && now_ns >= service->next_push) {
		push_counters(service);
		// Times that were missed are left out.
		service->next_push += service->influx_ns;
		if (service->next_push <= now_ns)
			service->next_push = now_ns + service->influx_ns;
	}
}

void service_reload(struct service *service, const struct cli_graph *from)
{
	struct errors *errors = errors_new();
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%lld\nSTATUS=reads its graph again",
		   (long long)now.tv_sec * 1000000 + now.tv_nsec / 1000);
	if (from->script)
		log_say(LOG_LEVEL_NOTE, NULL, "%s drives its graph itself, SIGHUP changes nothing",
			from->file);
	else if (!run_reload(service->run, from->file, from->sets, from->n_sets, errors))
		log_say(LOG_LEVEL_NOTE, NULL, "%s was read again", from->file);
	log_errors(errors);
	status_tell(service, "READY=1\n",
		    errors_count(errors) ? "; the last reload failed, the old graph runs on" : "");
	errors_free(errors);
}

void service_stopping(void)
{
	sd_notify(0, "STOPPING=1\nSTATUS=stops");
}

void service_stop(struct service *service)
{
	telemetry_end();
	if (!service->push)
		return;
	// The last state of all counters.
	push_counters(service);
	influx_push_stop(service->push);
	service->push = NULL;
}
