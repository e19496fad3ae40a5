// SPDX-License-Identifier: BSD-3-Clause
// When a Generator sends: rates without drift, patterns, and what is too late.

#include <string.h>

#include "module.h"
#undef MODULE
#define MODULE(VAR) __attribute__((unused)) static const struct module_type *VAR##_type = &(VAR);
#include "../../modules/generator.c" // NOLINT(bugprone-suspicious-include)
#include "suite.h"

#define START 1000000007ull

static struct generator_gap gaps[16];

// Packets of these costs (in packets or bits), at a rate.
static struct generator_pace pace_of(const uint64_t *costs, unsigned n, uint64_t rate,
				     unsigned pattern)
{
	struct generator_pace pace = {.gaps = gaps,
				      .n_gaps = n,
				      .rate = rate,
				      .pattern = pattern,
				      .burst_min = 1,
				      .burst_max = 1,
				      .random = 1};

	for (unsigned i = 0; i < n; i++)
		gaps[i] = generator_gap_of(costs[i], rate);
	generator_cycle(&pace);
	generator_begin(&pace, START, 0, 0);
	return pace;
}

static struct generator_pace packets(uint64_t rate, unsigned pattern)
{
	const uint64_t one = 1;

	return pace_of(&one, 1, rate, pattern);
}

// When so much of the cost is paid at a rate.
static uint64_t exact(unsigned __int128 cost, uint64_t rate)
{
	return START + (uint64_t)(cost * 1000000000 / rate);
}

static void no_drift(void)
{
	static const uint64_t rates[] = {1, 3, 7, 14880952, 14880953, 999999937, 1000000000000};

	for (unsigned i = 0; i < RTE_DIM(rates); i++) {
		struct generator_pace pace = packets(rates[i], GENERATOR_CONSTANT);
		unsigned wrong = 0;

		for (uint64_t k = 0; k < 200000; k++) {
			wrong += pace.at_ns != exact(k, rates[i]);
			generator_step(&pace);
		}
		CU_ASSERT_EQUAL(wrong, 0);
		// A thousand million more, and what follows them.
		uint64_t leapt = generator_leap(&pace, exact(1000200000, rates[i]) + 1);

		CU_ASSERT(leapt >= 1000000000 && leapt <= 1000001001);
		uint64_t done = UINT64_MAX - pace.left;

		for (uint64_t k = done; k < done + 1000; k++) {
			wrong += pace.at_ns != exact(k, rates[i]);
			generator_step(&pace);
		}
		CU_ASSERT_EQUAL(wrong, 0);
	}
}

static void sizes_take_their_time(void)
{
	const uint32_t sizes[] = {60, 60, 590, 1514, 65535};
	uint64_t costs[5], bits = 0;

	for (unsigned i = 0; i < 5; i++)
		costs[i] = generator_bits(sizes[i], true);
	CU_ASSERT_EQUAL(costs[0], 84 * 8);
	CU_ASSERT_EQUAL(generator_bits(14, true), 84 * 8);
	CU_ASSERT_EQUAL(generator_bits(1514, false), 1518 * 8);
	for (uint64_t rate = 10000000000; rate <= 1000000000000; rate *= 10) {
		struct generator_pace pace = pace_of(costs, 5, rate, GENERATOR_CONSTANT);
		unsigned wrong = 0;

		bits = 0;
		for (unsigned k = 0; k < 100000; k++) {
			wrong += pace.at_ns != exact(bits, rate);
			bits += costs[k % 5];
			generator_step(&pace);
		}
		CU_ASSERT_EQUAL(wrong, 0);
	}
	// 64 bytes with FCS at 10 Gbps: 14.881 million in a second.
	struct generator_pace pace = pace_of(costs, 1, 10000000000, GENERATOR_CONSTANT);

	CU_ASSERT_EQUAL(generator_leap(&pace, START + 1000000000), 14880952);
}

static void bursts(void)
{
	struct generator_pace pace = packets(7000000, GENERATOR_BURST);
	unsigned seen[5] = {0}, wrong = 0;

	pace.burst_min = pace.burst_max = 32;
	generator_begin(&pace, START, 0, 0);
	for (uint64_t k = 0; k < 100000; k++) {
		wrong += pace.at_ns != exact(k / 32 * 32, 7000000);
		generator_step(&pace);
	}
	CU_ASSERT_EQUAL(wrong, 0);
	pace.burst_min = 1;
	pace.burst_max = 4;
	generator_begin(&pace, START, 0, 0);
	for (uint64_t k = 0; k < 100000;) {
		uint64_t at_ns = pace.at_ns;
		unsigned n = 0;

		wrong += at_ns != exact(k, 7000000);
		for (; pace.at_ns == at_ns; k++, n++)
			generator_step(&pace);
		seen[RTE_MIN(n, 5u) % 5]++;
	}
	CU_ASSERT_EQUAL(wrong, 0);
	CU_ASSERT_EQUAL(seen[0], 0);
	for (unsigned n = 1; n < 5; n++)
		CU_ASSERT(seen[n] > 9000 && seen[n] < 11000);
}

static void poisson(void)
{
	const unsigned n = 1000000;
	struct generator_pace pace = packets(3000000, GENERATOR_POISSON), again = pace;
	unsigned over[4] = {0}, differ = 0;
	double mean = 1e9 / 3000000;

	for (unsigned k = 0; k < n; k++) {
		uint64_t before = pace.at_ns, gap;

		generator_step(&pace);
		generator_step(&again);
		differ += pace.at_ns != again.at_ns;
		gap = pace.at_ns - before;
		for (unsigned i = 0; i < 4; i++)
			over[i] += (double)gap > mean * i;
	}
	CU_ASSERT_EQUAL(differ, 0);
	CU_ASSERT_DOUBLE_EQUAL((double)(pace.at_ns - START) / n, mean, mean * 0.005);
	for (unsigned i = 1; i < 4; i++)
		CU_ASSERT_DOUBLE_EQUAL((double)over[i] / n, exp(-(double)i), 0.003);
	again = packets(3000000, GENERATOR_POISSON);
	again.random = 2;
	generator_step(&again);
	pace = packets(3000000, GENERATOR_POISSON);
	generator_step(&pace);
	CU_ASSERT_NOT_EQUAL(pace.at_ns, again.at_ns);
}

// Passing over many at once comes to the same as passing over each.
static void late_at_once(void)
{
	uint64_t random = 5;

	for (unsigned round = 0; round < 2000; round++) {
		unsigned n = 1 + generator_random(&random) % 16;
		uint64_t costs[16], rate = 1 + generator_random(&random) % 20000000000, until, one;
		struct generator_pace pace, slow;

		for (unsigned i = 0; i < n; i++)
			costs[i] = 672 + generator_random(&random) % 12000 * (round & 1);
		pace = pace_of(costs, n, rate, GENERATOR_CONSTANT);
		if (round & 2)
			pace.left = generator_random(&random) % 3000;
		if (round & 4)
			pace.end_ns = START + generator_random(&random) % 1000000;
		slow = pace;
		one = gaps[0].ns + 1;
		until = START + generator_random(&random) % (one * 3000);
		uint64_t late = generator_late(&pace, until), each = 0;

		for (; slow.at_ns < until && !generator_over(&slow); each++)
			generator_step(&slow);
		CU_ASSERT_EQUAL(late, each);
		CU_ASSERT_EQUAL(pace.at_ns, slow.at_ns);
		CU_ASSERT_EQUAL(pace.rest, slow.rest);
		CU_ASSERT_EQUAL(pace.left, slow.left);
		CU_ASSERT_EQUAL(pace.frame, slow.frame);
	}
}

static void no_more_than_due(void)
{
	struct generator_pace pace = packets(1000000, GENERATOR_CONSTANT);
	uint64_t times[BATCH_MAX];

	CU_ASSERT_EQUAL(generator_due(&pace, START - 1, times, 32), 0);
	CU_ASSERT_EQUAL(generator_due(&pace, START + 999, times, 32), 1);
	CU_ASSERT_EQUAL(generator_due(&pace, START + 1000, times, 32), 1);
	CU_ASSERT_EQUAL(generator_due(&pace, START + 100000, times, 32), 32);
	for (unsigned i = 0; i < 32; i++)
		CU_ASSERT_EQUAL(times[i], START + 2000 + i * 1000);
	pace.left = 3;
	CU_ASSERT_EQUAL(generator_due(&pace, START + 100000, times, 32), 3);
	CU_ASSERT_TRUE(generator_over(&pace));
	pace.left = 100;
	pace.end_ns = START + 40000;
	CU_ASSERT_EQUAL(generator_due(&pace, START + 100000, times, 32), 3);
	CU_ASSERT_EQUAL(times[2], START + 39000);
	CU_ASSERT_TRUE(generator_over(&pace));
}

static void captures_have_their_gaps(void)
{
	const uint64_t times[] = {500, 1500, 1400, 1400, 2300};
	struct generator_pace pace = {.gaps = gaps, .n_gaps = 5, .rate = 1};

	generator_replay_gaps(gaps, times, 5);
	CU_ASSERT_EQUAL(gaps[0].ns, 1000);
	CU_ASSERT_EQUAL(gaps[1].ns, 0);
	CU_ASSERT_EQUAL(gaps[3].ns, 900);
	CU_ASSERT_EQUAL(gaps[4].ns, 475);
	generator_cycle(&pace);
	generator_begin(&pace, START, 0, 0);
	CU_ASSERT_EQUAL(pace.cycle_ns, 2375);
	CU_ASSERT_EQUAL(generator_late(&pace, START + 2375 * 1000000ull + 1), 5000001);
	CU_ASSERT_EQUAL(pace.at_ns, START + 2375 * 1000000ull + 1000);
	// All at one time: nothing is waited for, and no cycle is looked for.
	generator_replay_gaps(gaps, times + 2, 2);
	pace.n_gaps = 2;
	generator_cycle(&pace);
	generator_begin(&pace, START, 0, 0);
	CU_ASSERT_EQUAL(generator_late(&pace, START + 1), GENERATOR_LATE_MAX);
}

static const CU_TestInfo cases[] = {
    {"no rate drifts", no_drift},
    {"sizes take their time on the wire", sizes_take_their_time},
    {"bursts", bursts},
    {"Poisson", poisson},
    {"many late ones at once", late_at_once},
    {"no more than is due", no_more_than_due},
    {"captures have their gaps", captures_have_their_gaps},
    CU_TEST_INFO_NULL,
};
SUITE(generator, cases)
