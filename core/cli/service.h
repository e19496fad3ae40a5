// SPDX-License-Identifier: BSD-3-Clause
// What `sluice run` does for those who keep it running: the log, the service manager, InfluxDB,
// DPDK's telemetry.

#ifndef SLUICE_CLI_SERVICE_H
#define SLUICE_CLI_SERVICE_H

#include "cli/cli.h"
#include "run/run.h"
#include "value/log.h"

struct service {
	enum log_target target;
	enum log_level level;
	const char *influx; // URL; NULL: none
	uint64_t influx_ns; // between two times

	struct run *run;
	char instance[64];
	struct influx_push *push;
	uint64_t next_push;
	uint64_t watchdog_ns; // how often to tell that all is well; 0: never
	uint64_t next_watchdog;
	uint64_t changes; // of graph, that were told
};

// The rows of `sluice run` among its options, and what takes them. What was not said has its
// default after service_init().
#define SERVICE_KEYS 0x100
enum {
	SERVICE_LOG = SERVICE_KEYS,
	SERVICE_LOG_LEVEL,
	SERVICE_INFLUX,
	SERVICE_INFLUX_INTERVAL,
};
#define SERVICE_OPTIONS                                                                            \
	{"log",                                                                                    \
	 SERVICE_LOG,                                                                              \
	 "TARGET",                                                                                 \
	 0,                                                                                        \
	 "where messages go: stderr (the default), syslog, journal",                               \
	 0},                                                                                       \
	    {"log-level",                                                                          \
	     SERVICE_LOG_LEVEL,                                                                    \
	     "LEVEL",                                                                              \
	     0,                                                                                    \
	     "what is said: error, warning, note (the default), debug",                            \
	     0},                                                                                   \
	    {"influx",                                                                             \
	     SERVICE_INFLUX,                                                                       \
	     "URL",                                                                                \
	     0,                                                                                    \
	     "writes the counters to InfluxDB (http://host:8086/write?db=sluice)",                 \
	     0},                                                                                   \
	{                                                                                          \
		"influx-interval", SERVICE_INFLUX_INTERVAL, "DURATION", 0,                         \
		    "how often they are written (10s)", 0                                          \
	}
void service_init(struct service *);
error_t service_take(struct service *, int key, char *arg, struct argp_state *);

// Before anything else: opens the log. 0, or -1 with the reason in errors.
int service_open_log(const struct service *, struct errors *);
// The graph runs, the instance has a name: tells the service manager, starts what is asked for.
// 0, or -1 with the reason in errors.
int service_start(struct service *, struct run *, const char *instance, struct errors *);
// At every turn of the loop.
void service_tick(struct service *, uint64_t now_ns);
// A signal asks for the graph's file to be read again. One that cannot be read or switched to
// leaves the old one as it is.
void service_reload(struct service *, const struct cli_graph *);
// The graph is about to stop; it has stopped.
void service_stopping(void);
void service_stop(struct service *);

#endif
