// SPDX-License-Identifier: BSD-3-Clause
// The part of Meter that answers commands, on the control thread.

#ifndef SLUICE_METER_COMMANDS_H
#define SLUICE_METER_COMMANDS_H

#include "meter_state.h"

static uint64_t meter_elapsed(const struct node *node, const struct meter *meter)
{
	return RTE_MIN(node->now_ns, meter->end_ns) - meter->begin_ns;
}

static const char *meter_window_state(const struct node *node, const struct meter *meter)
{
	if (meter->end_ns == UINT64_MAX)
		return "none";
	return node->now_ns < meter->end_ns ? "open" : "done";
}

static void meter_reply_counts(struct reply *reply, const struct meter_counts *counts)
{
	reply_u64(reply, "received", counts->received);
	reply_u64(reply, "lost", counts->skipped - counts->late);
	reply_u64(reply, "duplicates", counts->duplicates);
	reply_u64(reply, "reordered", counts->reordered);
	reply_u64(reply, "old", counts->old);
}

// Counts of a stream; a number that comes meanwhile, and was skipped before, is in neither.
static struct meter_counts meter_counts_read(const struct meter_counts *from)
{
	struct meter_counts counts = {
	    .received = counter_read(&from->received),
	    .late = counter_read(&from->late),
	    .duplicates = counter_read(&from->duplicates),
	    .reordered = counter_read(&from->reordered),
	    .old = counter_read(&from->old),
	};

	counts.skipped = RTE_MAX(counter_read(&from->skipped), counts.late);
	return counts;
}

static void meter_reply_times(struct reply *reply, const struct meter_histogram *histogram)
{
	static const struct {
		const char *name;
		uint64_t millionths;
	} percentiles[] = {
	    {"p50_ns", 500000},	  {"p90_ns", 900000},	 {"p99_ns", 990000},
	    {"p99_9_ns", 999000}, {"p99_99_ns", 999900},
	};

	reply_u64(reply, "timed", histogram->n);
	reply_u64(reply, "min_ns", histogram->n ? histogram->min_ns : 0);
	for (unsigned i = 0; i < RTE_DIM(percentiles); i++)
		reply_u64(reply, percentiles[i].name,
			  meter_percentile(histogram, percentiles[i].millionths));
	reply_u64(reply, "max_ns", histogram->max_ns);
	reply_u64(reply, "mean_ns", histogram->n ? histogram->sum_ns / histogram->n : 0);
}

// A copy, its sum that of what it holds. The caller frees .counts.
static int meter_copy(const struct meter_histogram *from, struct meter_histogram *copy,
		      struct errors *errors)
{
	*copy = (struct meter_histogram){
	    .counts = malloc(METER_COUNTS * sizeof(*copy->counts)),
	    .sum_ns = counter_read(&from->sum_ns),
	    .min_ns = counter_read(&from->min_ns),
	    .max_ns = counter_read(&from->max_ns),
	};
	if (!copy->counts) {
		error_machine(errors, NULL, "no memory to read the histogram");
		return -1;
	}
	for (unsigned i = 0; i < METER_COUNTS; i++) {
		copy->counts[i] = counter_read(&from->counts[i]);
		copy->n += copy->counts[i];
	}
	return 0;
}

static int meter_reply(struct node *node, struct reply *reply, unsigned text, struct errors *errors)
{
	const struct meter *meter = node->state;
	struct meter_histogram histogram;
	struct meter_counts sum = {0};
	char *encoded = NULL;

	if (meter_copy(&meter->histogram, &histogram, errors))
		return -1;
	if (text != METER_NONE)
		encoded = meter_text(&histogram, text == METER_COMPRESSED);
	if (text != METER_NONE && !encoded) {
		error_machine(errors, NULL, "no memory to write the histogram");
		free(histogram.counts);
		return -1;
	}
	for (unsigned i = 0; i < meter->n_streams; i++) {
		struct meter_counts counts = meter_counts_read(&meter->streams[i].counts);

		sum.received += counts.received;
		sum.skipped += counts.skipped;
		sum.late += counts.late;
		sum.duplicates += counts.duplicates;
		sum.reordered += counts.reordered;
		sum.old += counts.old;
	}
	reply_text(reply, "window", meter_window_state(node, meter));
	reply_u64(reply, "elapsed_ns", meter_elapsed(node, meter));
	meter_reply_counts(reply, &sum);
	reply_u64(reply, "damaged", counter_read(&meter->damaged));
	reply_u64(reply, "foreign", counter_read(&meter->foreign));
	reply_u64(reply, "bytes", counter_read(&meter->bytes));
	reply_u64(reply, "untimed", counter_read(&meter->untimed));
	meter_reply_times(reply, &histogram);
	if (encoded)
		reply_text(reply, "histogram", encoded);
	free(encoded);
	free(histogram.counts);
	return 0;
}

struct meter_read_args {
	struct choice histogram;
};

static const struct param meter_read_args[] = {
    PARAM(meter_read_args, histogram, .def = "compressed", .choices = meter_texts,
	  .help = "as HdrHistogram's V2 text in base64, compressed with zlib or plain; or not at "
		  "all"),
    PARAM_END,
};

static int meter_read(struct node *node, const void *args, struct reply *reply,
		      struct errors *errors)
{
	return meter_reply(node, reply, ((const struct meter_read_args *)args)->histogram.n,
			   errors);
}

static int meter_look(struct node *node, const void *args, struct reply *reply,
		      struct errors *errors)
{
	(void)args;
	return meter_reply(node, reply, METER_NONE, errors);
}

static int meter_streams(struct node *node, const void *args, struct reply *reply,
			 struct errors *errors)
{
	const struct meter *meter = node->state;

	(void)args;
	(void)errors;
	for (unsigned i = 0; i < meter->n_streams; i++) {
		struct meter_counts counts = meter_counts_read(&meter->streams[i].counts);

		if (!counts.received)
			continue;
		reply_item(reply);
		reply_u64(reply, "stream", i);
		meter_reply_counts(reply, &counts);
	}
	return 0;
}

static int meter_reset(struct node *node, const void *args, struct reply *reply,
		       struct errors *errors)
{
	(void)args;
	(void)reply;
	(void)errors;
	meter_clear(node->state, node->now_ns, UINT64_MAX);
	return 0;
}

struct meter_window_args {
	struct duration duration;
};

static const struct param meter_window_args[] = {
    PARAM(meter_window_args, duration, .min = 1, .max = 1000000000000000, .example = "1s",
	  .help = "how long packets count"),
    PARAM_END,
};

static int meter_window(struct node *node, const void *args, struct reply *reply,
			struct errors *errors)
{
	const struct meter_window_args *window = args;

	(void)reply;
	(void)errors;
	meter_clear(node->state, node->now_ns, node->now_ns + window->duration.ns);
	return 0;
}

static const struct command meter_commands[] = {
    {"read",
     "says what was counted, exactly, with percentiles of the latency and the histogram; workers "
     "are parked meanwhile, a millisecond or two: for when the measurement is over",
     meter_read_args, meter_read},
    {"look",
     "says the same without the histogram, beside the workers: what comes meanwhile may be in one "
     "number and not yet in another",
     NULL, meter_look, .live = true},
    {"streams", "lists the streams that were seen", NULL, meter_streams, .live = true},
    {"reset", "counts from zero, from now on", NULL, meter_reset},
    {"window",
     "counts from zero, from now on, for exactly so long by the worker's clock; what comes later "
     "is followed, but not counted",
     meter_window_args, meter_window},
    {.name = NULL},
};

#endif
