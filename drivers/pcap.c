// SPDX-License-Identifier: BSD-3-Clause
// pcap: a port that receives from a capture file and sends into one. It reads and writes through
// libpcap beside the workers; see pcap_rx.c, pcap_tx.c and, for the files, capture.h.

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "pcap_port.h"

#define PCAP_SPEED_MAX 1e6

static const struct param pcap_params[] = {
    PARAM(pcap_params, rx, .def = "", .example = "web.pcap",
	  .help = "the capture to receive from, pcap or pcapng; \"-\": standard input"),
    PARAM(pcap_params, tx, .def = "", .example = "out.pcap",
	  .help = "the capture to send to, replaced if it exists; \"-\": standard output"),
    PARAM(pcap_params, loop, .def = "1", .example = "10",
	  .help = "how often the capture is received: a number, or forever"),
    PARAM(pcap_params, speed, .def = "fast", .example = "2x",
	  .help = "when packets come: fast (as soon as they are wanted), original (with the "
		  "capture's own times), or a factor to those as in 2x or 0.5x"),
    PARAM_END,
};

bool pcap_loop_parse(const char *text, uint64_t *passes)
{
	char *end;

	*passes = 0;
	if (!strcmp(text, "forever"))
		return true;
	if (text[0] < '1' || text[0] > '9')
		return false;
	errno = 0;
	*passes = strtoull(text, &end, 10);
	return !errno && !*end;
}

bool pcap_speed_parse(const char *text, double *speed)
{
	size_t digits = strspn(text, "0123456789.");

	*speed = strcmp(text, "original") == 0;
	if (*speed > 0 || strcmp(text, "fast") == 0)
		return true;
	if (strcmp(text + digits, "x") || strcspn(text, "0123456789") >= digits ||
	    strchr(text, '.') != strrchr(text, '.'))
		return false;
	*speed = strtod(text, NULL);
	return *speed >= 1 / PCAP_SPEED_MAX && *speed <= PCAP_SPEED_MAX;
}

static void pcap_check(const void *params_, struct errors *errors)
{
	const struct pcap_params *params = params_;
	uint64_t passes;
	double speed;

	if (!*params->rx && !*params->tx)
		error_input(errors, NULL,
			    "needs a capture to receive from (rx), to send to (tx), or both");
	if (*params->rx && strcmp(params->rx, params->tx) == 0 && strcmp(params->rx, "-") != 0)
		error_input(errors, "tx", "\"%s\" is what rx reads; it must be another file",
			    params->tx);
	if (!pcap_loop_parse(params->loop, &passes))
		error_input(errors, "loop",
			    "\"%s\" is neither a number of times from 1 on nor \"forever\"",
			    params->loop);
	else if (passes != 1 && !strcmp(params->rx, "-"))
		error_input(errors, "loop", "standard input can be read only once");
	else if (passes != 1 && !*params->rx)
		error_input(errors, "loop", "says how often rx is received, but there is no rx");
	if (!pcap_speed_parse(params->speed, &speed))
		error_input(errors, "speed",
			    "\"%s\" is neither \"fast\", \"original\" nor a factor from 0.000001x "
			    "to 1000000x (for example 2x)",
			    params->speed);
	else if (speed > 0 && !*params->rx)
		error_input(errors, "speed", "says when packets of rx come, but there is no rx");
}

static void pcap_caps(const void *params_, struct driver_caps *caps)
{
	const struct pcap_params *params = params_;

	*caps = (struct driver_caps){.rx_queues = *params->rx != 0, .tx_queues = *params->tx != 0};
}

static unsigned pcap_holds(const void *params, unsigned rx_queues, unsigned tx_queues)
{
	(void)params;
	return (rx_queues ? PCAP_RX_HOLDS : 0) + (tx_queues ? PCAP_TX_HOLDS : 0);
}

int pcap_thread_start(pthread_t *thread, void *(*run)(void *), void *arg, const char *name)
{
	sigset_t all, before;
	int failed;

	// SIGPIPE of a pipe whose reader is gone must not end us, and SIGINT is the control
	// thread's.
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	failed = pthread_create(thread, NULL, run, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!failed)
		pthread_setname_np(*thread, name);
	return failed ? -1 : 0;
}

bool pcap_pause(int stop_fd, uint64_t ns)
{
	struct pollfd stop = {.fd = stop_fd, .events = POLLIN};
	struct timespec time = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};

	return ppoll(&stop, 1, &time, NULL) > 0;
}

void pcap_wake(int stop_fd)
{
	uint64_t one = 1;

	// It can only fail when the counter is full, and then the fd is readable as it should be.
	if (write(stop_fd, &one, sizeof(one)) < 0)
		return;
}

static int pcap_open(struct port *port, struct errors *errors)
{
	const struct pcap_params *params = port->params;
	struct pcap_state *state = port->state;
	int failed = 0;

	// Both are opened whatever comes of the first, to report all faults in one run.
	if (*params->rx && port->rx_queues)
		failed |= pcap_rx_open(port, &state->rx, errors);
	if (*params->tx && port->tx_queues)
		failed |= pcap_tx_open(port, &state->tx, errors);
	if (failed || port->replay)
		return failed;
	if (state->rx)
		failed |= pcap_rx_start(state->rx, errors);
	if (state->tx)
		failed |= pcap_tx_start(state->tx, errors);
	return failed;
}

static void pcap_stop(struct port *port)
{
	struct pcap_state *state = port->state;

	if (state->rx) {
		pcap_rx_report(state->rx);
		pcap_rx_stop(state->rx);
	}
	if (state->tx) {
		pcap_tx_settle(state->tx);
		pcap_tx_report(state->tx);
	}
}

static void pcap_tick(struct port *port, uint64_t now_ns)
{
	struct pcap_state *state = port->state;

	(void)now_ns;
	if (state->rx)
		pcap_rx_report(state->rx);
	if (state->tx)
		pcap_tx_report(state->tx);
}

static void pcap_shut(struct port *port)
{
	struct pcap_state *state = port->state;

	if (state->rx)
		pcap_rx_close(state->rx);
	if (state->tx)
		pcap_tx_close(state->tx);
	*state = (struct pcap_state){0};
}

static void pcap_counters(struct port *port, struct port_counters *counters)
{
	struct pcap_state *state = port->state;

	if (state->rx)
		pcap_rx_counters(state->rx, counters);
	if (state->tx)
		pcap_tx_counters(state->tx, counters);
}

static uint64_t pcap_unsent(struct port *port)
{
	struct pcap_state *state = port->state;

	return state->tx ? pcap_tx_unsent(state->tx) : 0;
}

static double pcap_progress(struct port *port)
{
	struct pcap_state *state = port->state;

	return state->rx ? pcap_rx_progress(state->rx) : -1;
}

static const struct driver_type pcap = {
    .name = "pcap",
    .help = "receives from a capture file, and sends into one",
    .details =
	"Reads pcap (either byte order, micro- and nanoseconds) and pcapng (several interfaces), "
	"of "
	"link type Ethernet. Records longer than a packet buffer become packets of several "
	"segments, records of 0 bytes become empty packets; what the capturer cut comes as short "
	"as it is, and is counted in rx_errors. A cut or damaged capture is received up to the "
	"damage, which is reported with the number of the packet, and the run ends with code 1.\n"
	"\n"
	"Writes pcap with nanosecond times, each packet whole, and flushes when nothing is left to "
	"write. A file that another port or program reads or writes through this driver is "
	"refused. Named pipes, standard input and output work in either direction (tables on "
	"standard output are switched off with --quiet).\n"
	"\n"
	"With a speed of original or a factor, packets come with the gaps of the capture; the "
	"clock "
	"starts when the first was received. Between two rounds of a loop there is no gap.",
    .example = "ports:\n"
	       "  left:  {pcap: {rx: web.pcap, loop: 10, speed: 2x}}\n"
	       "  right: {pcap: {tx: out.pcap}}\n",
    .params = pcap_params,
    .state_size = sizeof(struct pcap_state),
    .patient = true,
    .check = pcap_check,
    .caps = pcap_caps,
    .holds = pcap_holds,
    .open = pcap_open,
    .close = pcap_shut,
    .stop = pcap_stop,
    .counters = pcap_counters,
    .unsent = pcap_unsent,
    .progress = pcap_progress,
    .tick = pcap_tick,
};
DRIVER(pcap)
