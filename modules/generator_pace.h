// SPDX-License-Identifier: BSD-3-Clause
// The part of Generator that knows when: the intended time of each packet, worked out in whole
// fractions of a nanosecond, so that no error adds up, and what of it is too late.

#ifndef SLUICE_GENERATOR_PACE_H
#define SLUICE_GENERATOR_PACE_H

#include <math.h>

#include "module.h"

enum { GENERATOR_CONSTANT, GENERATOR_BURST, GENERATOR_POISSON };

// From a frame to the next one: ns + rest / rate.
struct generator_gap {
	uint64_t ns;
	uint64_t rest;
	double mean_ns; // the same
};

struct generator_pace {
	const struct generator_gap *gaps; // one a frame; NULL: as fast as can be
	unsigned n_gaps;
	unsigned cycle;	     // gaps after which all begins anew: 1 if they are equal
	uint64_t rate;	     // packets or bits a second; 1 where gaps are whole
	uint64_t cycle_ns;   // all gaps of a cycle
	uint64_t cycle_rest; // in 1/rate ns, less than 1
	unsigned pattern;
	unsigned burst_min, burst_max;

	unsigned frame;	 // the next packet
	uint64_t at_ns;	 // when it is meant to be sent
	uint64_t due_ns; // when at the mean rate: due_ns + rest / rate
	uint64_t rest;
	double fraction;   // of Poisson, whose gaps are not whole
	unsigned in_burst; // packets left in this burst, the next one included
	uint64_t random;

	uint64_t left;	 // packets that may still come; UINT64_MAX: without end
	uint64_t end_ns; // none is meant for then or later
};

static inline uint64_t generator_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15; // splitmix64

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static inline unsigned generator_burst(struct generator_pace *pace)
{
	unsigned spread = pace->burst_max - pace->burst_min + 1;

	if (spread == 1)
		return pace->burst_max;
	return pace->burst_min + (unsigned)((generator_random(&pace->random) >> 32) * spread >> 32);
}

// To the next packet, from the one that was sent or is too late.
static inline void generator_step(struct generator_pace *pace)
{
	const struct generator_gap *gap = &pace->gaps[pace->frame];

	if (++pace->frame == pace->n_gaps)
		pace->frame = 0;
	pace->left--;
	if (pace->pattern == GENERATOR_POISSON) {
		// 1 to 2^53: never 0, of which there is no logarithm.
		double u = (double)((generator_random(&pace->random) >> 11) + 1) * 0x1p-53;
		double wait = pace->fraction - log(u) * gap->mean_ns;
		uint64_t whole = (uint64_t)wait;

		pace->fraction = wait - (double)whole;
		pace->due_ns += whole;
		pace->at_ns = pace->due_ns;
		return;
	}
	pace->due_ns += gap->ns;
	pace->rest += gap->rest;
	if (pace->rest >= pace->rate) {
		pace->rest -= pace->rate;
		pace->due_ns++;
	}
	if (pace->pattern == GENERATOR_BURST) {
		if (--pace->in_burst)
			return;
		pace->in_burst = generator_burst(pace);
	}
	pace->at_ns = pace->due_ns;
}

static inline bool generator_over(const struct generator_pace *pace)
{
	return !pace->left || pace->at_ns >= pace->end_ns;
}

// The packets that are due now, at most `max`; their intended times.
static inline unsigned generator_due(struct generator_pace *pace, uint64_t now_ns, uint64_t *times,
				     unsigned max)
{
	unsigned n = 0;

	if (!pace->gaps) {
		pace->at_ns = now_ns;
		if (now_ns >= pace->end_ns)
			return 0;
		max = (unsigned)RTE_MIN((uint64_t)max, pace->left);
		for (; n < max; n++)
			times[n] = now_ns;
		pace->left -= n;
		return n;
	}
	while (n < max && pace->at_ns <= now_ns && !generator_over(pace)) {
		times[n++] = pace->at_ns;
		generator_step(pace);
	}
	return n;
}

// Whole cycles that lie before `until_ns` are passed over in one step, however many they are; of
// Poisson so many as come on the average.
static uint64_t generator_leap(struct generator_pace *pace, uint64_t until_ns)
{
	unsigned __int128 cycle = (unsigned __int128)pace->cycle_ns * pace->rate + pace->cycle_rest;
	unsigned __int128 gone;
	uint64_t cycles;

	if (!cycle || until_ns <= pace->due_ns)
		return 0;
	gone = (unsigned __int128)(until_ns - pace->due_ns) * pace->rate;
	if (gone <= pace->rest)
		return 0;
	cycles = (uint64_t)((gone - pace->rest) / cycle);
	cycles = RTE_MIN(cycles, pace->left / pace->cycle);
	if (!cycles)
		return 0;
	gone = cycles * cycle + pace->rest;
	pace->due_ns += (uint64_t)(gone / pace->rate);
	pace->rest = (uint64_t)(gone % pace->rate);
	pace->frame = (unsigned)((pace->frame + cycles * pace->cycle) % pace->n_gaps);
	pace->at_ns = pace->due_ns;
	if (pace->pattern == GENERATOR_BURST)
		pace->in_burst = generator_burst(pace);
	pace->left -= cycles * pace->cycle;
	return cycles * pace->cycle;
}

#define GENERATOR_LATE_MAX 4096 // that are passed over one by one in a poll

// Passes over the packets that were meant to be sent before `until_ns`. How many they were.
static __attribute__((noinline)) uint64_t generator_late(struct generator_pace *pace,
							 uint64_t until_ns)
{
	uint64_t late;

	until_ns = RTE_MIN(until_ns, pace->end_ns);
	late = generator_leap(pace, until_ns);
	for (unsigned i = 0; i < GENERATOR_LATE_MAX; i++) {
		if (pace->at_ns >= until_ns || generator_over(pace))
			break;
		generator_step(pace);
		late++;
	}
	return late;
}

// The gap that `cost` packets or bits take.
static struct generator_gap generator_gap_of(uint64_t cost, uint64_t rate)
{
	uint64_t ns = cost * 1000000000 / rate, rest = cost * 1000000000 % rate;

	return (struct generator_gap){
	    .ns = ns, .rest = rest, .mean_ns = (double)ns + (double)rest / (double)rate};
}

// What follows from gaps and rate.
static void generator_cycle(struct generator_pace *pace)
{
	unsigned __int128 rest = 0;

	pace->cycle = 1;
	for (unsigned i = 1; i < pace->n_gaps; i++)
		if (pace->gaps[i].ns != pace->gaps[0].ns ||
		    pace->gaps[i].rest != pace->gaps[0].rest)
			pace->cycle = pace->n_gaps;
	pace->cycle_ns = 0;
	for (unsigned i = 0; i < pace->cycle; i++) {
		pace->cycle_ns += pace->gaps[i].ns;
		rest += pace->gaps[i].rest;
	}
	pace->cycle_ns += (uint64_t)(rest / pace->rate);
	pace->cycle_rest = (uint64_t)(rest % pace->rate);
}

// The first packet is meant for now.
static void generator_begin(struct generator_pace *pace, uint64_t now_ns, uint64_t count,
			    uint64_t duration_ns)
{
	pace->left = count ? count : UINT64_MAX;
	pace->end_ns = duration_ns ? now_ns + duration_ns : UINT64_MAX;
	pace->at_ns = now_ns;
	pace->due_ns = now_ns;
	pace->rest = 0;
	pace->fraction = 0;
	pace->in_burst = pace->pattern == GENERATOR_BURST ? generator_burst(pace) : 1;
}

#endif
