// SPDX-License-Identifier: BSD-3-Clause
// What a Meter makes of sequence numbers, stamps and times.

#include <stdlib.h>
#include <string.h>

#include "module.h"
#undef MODULE
#define MODULE(VAR) __attribute__((unused)) static const struct module_type *VAR##_type = &(VAR);
#include "../../modules/meter.c" // NOLINT(bugprone-suspicious-include)
#include "suite.h"

#define SPAN 64
#define LAST STAMP_MASK // the greatest number

struct tracked {
	struct meter_stream stream;
	uint64_t seen[SPAN / 64];
	uint64_t own[METER_UNTIMED + 1];
};

static void track(struct tracked *tracked, uint64_t number)
{
	tracked->stream.seen = tracked->seen;
	meter_track(&tracked->stream, number & STAMP_MASK, SPAN, &tracked->stream.counts,
		    tracked->own);
}

static bool counted(const struct tracked *tracked, uint64_t received, uint64_t lost,
		    uint64_t duplicates, uint64_t reordered, uint64_t old)
{
	const struct meter_counts *is = &tracked->stream.counts;

	if (is->received == received && is->skipped - is->late == lost &&
	    is->duplicates == duplicates && is->reordered == reordered && is->old == old)
		return true;
	printf("\n%lu received, %lu lost, %lu duplicates, %lu reordered, %lu old\n", is->received,
	       is->skipped - is->late, is->duplicates, is->reordered, is->old);
	return false;
}

static void in_order(void)
{
	// From anywhere, and through the greatest number.
	static const uint64_t begins[] = {0, 1, 77, LAST - 500, LAST};

	for (unsigned i = 0; i < RTE_DIM(begins); i++) {
		struct tracked tracked = {0};

		for (uint64_t n = 0; n < 1000; n++)
			track(&tracked, begins[i] + n);
		CU_ASSERT(counted(&tracked, 1000, 0, 0, 0, 0));
	}
}

static void losses(void)
{
	for (uint64_t begin = 0; begin < 2; begin++) {
		struct tracked tracked = {0};
		uint64_t from = begin ? LAST - 150 : 0;

		track(&tracked, from);
		track(&tracked, from + 3);	      // 1 and 2
		track(&tracked, from + 3 + SPAN);     // one less than all that is remembered
		track(&tracked, from + 4 + 2 * SPAN); // as many
		track(&tracked, from + 1000);
		CU_ASSERT(counted(&tracked, 5, 1001 - 5, 0, 0, 0));
		CU_ASSERT_EQUAL(tracked.own[METER_SKIPPED], 1001 - 5);
	}
}

static void late_and_twice(void)
{
	struct tracked tracked = {0};

	for (uint64_t n = LAST - 9; n != LAST + 11; n++)
		if (n != LAST - 2 && n != LAST && n != LAST + 4)
			track(&tracked, n);
	CU_ASSERT(counted(&tracked, 17, 3, 0, 0, 0));
	track(&tracked, LAST);
	CU_ASSERT(counted(&tracked, 18, 2, 0, 1, 0));
	track(&tracked, LAST);
	track(&tracked, LAST + 10);
	track(&tracked, LAST - 9);
	CU_ASSERT(counted(&tracked, 21, 2, 3, 1, 0));
	track(&tracked, LAST - 2);
	track(&tracked, LAST + 4);
	CU_ASSERT(counted(&tracked, 23, 0, 3, 3, 0));
	// Before the first one nothing was known to be missing.
	track(&tracked, LAST - 10);
	CU_ASSERT(counted(&tracked, 24, 0, 3, 4, 0));
	track(&tracked, LAST - 10);
	CU_ASSERT(counted(&tracked, 25, 0, 4, 4, 0));
}

// Bits of numbers that were passed over say nothing of those that were there before.
static void passed_over(void)
{
	struct tracked tracked = {0};

	for (uint64_t n = 0; n < SPAN; n++)
		track(&tracked, n);
	track(&tracked, SPAN + 40);
	for (uint64_t n = SPAN; n < SPAN + 40; n++)
		track(&tracked, n);
	CU_ASSERT(counted(&tracked, 2 * SPAN + 41 - SPAN, 0, 0, 40, 0));
}

static void old_and_anew(void)
{
	struct tracked tracked = {0};

	for (uint64_t n = 0; n < 1000; n++)
		track(&tracked, n);
	track(&tracked, 1000 - SPAN);
	CU_ASSERT(counted(&tracked, 1001, 0, 1, 0, 0));
	track(&tracked, 1000 - SPAN - 1);
	CU_ASSERT(counted(&tracked, 1002, 0, 1, 0, 1));
	track(&tracked, 1000);
	for (uint64_t n = 0; n < METER_ANEW; n++)
		track(&tracked, n);
	CU_ASSERT(counted(&tracked, 1003 + METER_ANEW, 0, 1, 0, 1 + METER_ANEW));
	// From here on it counts as ever.
	track(&tracked, METER_ANEW);
	track(&tracked, METER_ANEW + 2);
	track(&tracked, METER_ANEW - 1);
	CU_ASSERT(counted(&tracked, 1006 + METER_ANEW, 1, 2, 0, 1 + METER_ANEW));
}

// Against a list of all numbers that came, for any order of them.
static void any_order(void)
{
	enum { N = 400 };
	uint64_t random = 9;

	for (unsigned round = 0; round < 2000; round++) {
		struct tracked tracked = {0};
		uint64_t begin = round & 1 ? LAST - 100 : 0, greatest = 0;
		unsigned came[N] = {0}, lost = 0, twice = 0, reordered = 0;

		track(&tracked, begin);
		came[0] = 1;
		for (unsigned i = 1; i < N; i++) {
			uint64_t number;

			random = random * 6364136223846793005 + 1442695040888963407;
			number = i + (random >> 33) % 31;
			number = number < 15 ? 0 : RTE_MIN(number - 15, N - 1ul);
			track(&tracked, begin + number);
			twice += came[number] > 0;
			reordered += !came[number] && number < greatest;
			greatest = RTE_MAX(greatest, number);
			came[number]++;
		}
		for (uint64_t n = 0; n <= greatest; n++)
			lost += !came[n];
		CU_ASSERT(counted(&tracked, N, lost, twice, reordered, 0));
	}
}

static void stamps(void)
{
	struct stamp stamp = {.stream = 0xfedc, .sequence = LAST - 5, .time_ns = 0x123456789abc},
		     got;
	uint8_t bytes[STAMP_BYTES];
	uint16_t rest = 0x1234;

	for (unsigned all = 0; all < 2; all++) {
		stamp_write(bytes, all ? STAMP_MAGIC_ALL : STAMP_MAGIC, &stamp, all ? rest : 0);
		CU_ASSERT_EQUAL(stamp_covers(bytes), all);
		CU_ASSERT_EQUAL(stamp_read(bytes, rest, &got), STAMP_GOOD);
		CU_ASSERT_EQUAL(got.stream, stamp.stream);
		CU_ASSERT_EQUAL(got.sequence, stamp.sequence);
		CU_ASSERT_EQUAL(got.time_ns, stamp.time_ns);
		CU_ASSERT_EQUAL(stamp_read(bytes, rest + 1, &got),
				all ? STAMP_DAMAGED : STAMP_GOOD);
		for (unsigned bit = 0; bit < 8 * STAMP_BYTES; bit++) {
			bytes[bit / 8] ^= 1 << bit % 8;
			CU_ASSERT_EQUAL(stamp_read(bytes, rest, &got), STAMP_DAMAGED);
			bytes[bit / 8] ^= 1 << bit % 8;
		}
	}
	CU_ASSERT(
	    !memcmp(bytes, "\xac\x93\xfe\xdc\xff\xff\xff\xff\xff\xfa\x12\x34\x56\x78\x9a\xbc", 16));
	memset(bytes, 0, sizeof(bytes));
	CU_ASSERT_EQUAL(stamp_read(bytes, 0, &got), STAMP_NONE);
	memset(bytes, 0xff, sizeof(bytes));
	CU_ASSERT_EQUAL(stamp_read(bytes, 0, &got), STAMP_NONE);
	// The sum is the same, whatever a stamp says: this is what checksums around it rest on.
	for (uint64_t n = 0; n < 10000; n++) {
		stamp = (struct stamp){.stream = (uint16_t)n,
				       .sequence = n * 0x9e3779b97f4a7c15,
				       .time_ns = n * 0xbf58476d1ce4e5b9};
		stamp_write(bytes, STAMP_MAGIC, &stamp, 0);
		CU_ASSERT_EQUAL(rte_raw_cksum(bytes, STAMP_BYTES), 0xffff);
	}
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static struct meter meter_with(const uint64_t *values, unsigned n)
{
	struct meter with = {.histogram.counts = calloc(METER_COUNTS, sizeof(uint64_t)),
			     .histogram.min_ns = UINT64_MAX};
	struct meter_batch sum = {.counts = true, .min_ns = UINT64_MAX};
	uint64_t own[METER_UNTIMED + 1] = {0};
	struct ctx ctx = {.counters = own};

	for (unsigned i = 0; i < n; i++)
		meter_time(&with, &sum, values[i] + 7, 7);
	meter_sum(&ctx, &with, &sum);
	return with;
}

static void percentiles(void)
{
	enum { N = 10007 };
	static const unsigned millionths[] = {0,      1,      10000,  250000, 500000,
					      900000, 990000, 999000, 999900, 1000000};
	static uint64_t values[N];
	uint64_t random = 3, sum_ns = 0;

	for (unsigned i = 0; i < N; i++) {
		random = random * 6364136223846793005 + 1442695040888963407;
		values[i] = (random >> 20) % (1ull << (random >> 60) * 2);
		sum_ns += values[i];
	}
	struct meter with = meter_with(values, N);

	qsort(values, N, sizeof(*values), compare);
	CU_ASSERT_EQUAL(with.histogram.n, N);
	CU_ASSERT_EQUAL(with.histogram.sum_ns, sum_ns);
	CU_ASSERT_EQUAL(with.histogram.min_ns, values[0]);
	CU_ASSERT_EQUAL(with.histogram.max_ns, values[N - 1]);
	for (unsigned i = 0; i < RTE_DIM(millionths); i++) {
		uint64_t rank = ((uint64_t)N * millionths[i] + 999999) / 1000000;
		uint64_t right = values[rank ? rank - 1 : 0];
		uint64_t is = meter_percentile(&with.histogram, millionths[i]);

		CU_ASSERT(is >= right && is <= right + right / 1000);
	}
	free(with.histogram.counts);
}

static void places(void)
{
	unsigned wrong = 0, before = 0;

	for (uint64_t value = 0; value < METER_MAX_NS; value += 1 + value / 3000) {
		unsigned index = meter_index(value);
		uint64_t greatest = meter_value(index);

		wrong += index < before || index >= METER_COUNTS;
		wrong += greatest < value || greatest - value > value / 1000;
		wrong += meter_index(greatest) != index || meter_index(greatest + 1) != index + 1;
		before = index;
	}
	CU_ASSERT_EQUAL(wrong, 0);
	CU_ASSERT(meter_index(METER_MAX_NS) < METER_COUNTS);
}

static void untimed(void)
{
	const uint64_t values[] = {METER_MAX_NS, METER_MAX_NS + 1, -1ull, 1ull << 47};
	struct meter with = meter_with(values, 4);
	struct meter_batch sum = {.min_ns = UINT64_MAX};

	CU_ASSERT_EQUAL(with.histogram.n, 1);
	CU_ASSERT_EQUAL(with.untimed, 3);
	CU_ASSERT_EQUAL(with.histogram.max_ns, METER_MAX_NS);
	// Across the greatest time that a stamp can say.
	meter_time(&with, &sum, (1ull << 48) + 5, STAMP_MASK - 4);
	CU_ASSERT_EQUAL(sum.max_ns, 10);
	free(with.histogram.counts);
}

// What HdrHistogram's own libraries make of these texts is that same histogram.
static void texts(void)
{
	const uint64_t values[] = {0, 0, 1, 2047, 2048, 2049, 1000000, 99999999999};
	struct meter with = meter_with(values, 8), none = meter_with(values, 0);
	char *plain = meter_text(&with.histogram, false);
	char *compressed = meter_text(&with.histogram, true);
	char *empty = meter_text(&none.histogram, false);

	CU_ASSERT_STRING_EQUAL(plain, "HISTEwAAAA4AAAAAAAAAAwAAAAAAAAABAAAAF0h26AA/8AAAAAAAAAQC+R8C"
				      "BL+OAQLfiAIC");
	CU_ASSERT_STRING_EQUAL(empty, "HISTEwAAAAAAAAAAAAAAAwAAAAAAAAABAAAAF0h26AA/8AAAAAAAAA==");
	CU_ASSERT(!strncmp(compressed, "HISTFAAAA", 9));
	free(plain);
	free(compressed);
	free(empty);
	free(with.histogram.counts);
	free(none.histogram.counts);
}

static const CU_TestInfo cases[] = {
    {"in order", in_order},
    {"losses", losses},
    {"late ones and duplicates", late_and_twice},
    {"what was passed over", passed_over},
    {"old ones, and a stream that begins anew", old_and_anew},
    {"any order", any_order},
    {"stamps", stamps},
    {"percentiles are exact to a thousandth", percentiles},
    {"every value has its place", places},
    {"times that cannot be", untimed},
    {"the text of a histogram", texts},
    CU_TEST_INFO_NULL,
};
SUITE(meter, cases)
