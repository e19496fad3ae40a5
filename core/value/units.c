// SPDX-License-Identifier: BSD-3-Clause
// Numbers and quantities with a unit: from text and back. Nothing is rounded: a quantity that is
// no whole number of its smallest unit is refused.

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "value/scalar.h"
#include "value/table.h"

#define U64_RANGE "0 to 18446744073709551615"

const char *const number_why[SCAN_FAULTS] = {
    [SCAN_NOT] = "is not a number",
    [SCAN_FRACTION] = "is not a whole number",
    [SCAN_NEGATIVE] = "is out of range, it should be " U64_RANGE,
    [SCAN_LARGE] = "is out of range, it should be " U64_RANGE,
};

const char *const duration_why[SCAN_FAULTS] = {
    [SCAN_NOT] = "is not a duration (for example 300s)",
    [SCAN_NO_UNIT] = "has no unit, it should be one of ns, us, ms, s, min, h",
    [SCAN_UNIT] = "has an unknown unit, it should be one of ns, us, ms, s, min, h",
    [SCAN_FRACTION] = "is not a whole number of nanoseconds",
    [SCAN_NEGATIVE] = "is out of range, it should be at least 0s",
    [SCAN_LARGE] = "is out of range, it should be at most 18446744073709551615ns",
};

const char *const bytes_why[SCAN_FAULTS] = {
    [SCAN_NOT] = "is not a size (for example 2KiB)",
    [SCAN_UNIT] = "has an unknown unit, it should be one of B, KiB, MiB, GiB, kB, MB, GB",
    [SCAN_FRACTION] = "is not a whole number of bytes",
    [SCAN_NEGATIVE] = "is out of range, it should be at least 0B",
    [SCAN_LARGE] = "is out of range, it should be at most 18446744073709551615B",
};

#define RATE_UNITS "pps, kpps, Mpps, Gpps, bps, kbps, Mbps, Gbps"

const char *const rate_why[SCAN_FAULTS] = {
    [SCAN_NOT] = "is not a rate (for example 10Mpps)",
    [SCAN_NO_UNIT] = "has no unit, it should be one of " RATE_UNITS,
    [SCAN_UNIT] = "has an unknown unit, it should be one of " RATE_UNITS,
    [SCAN_FRACTION] = "is not a whole number per second",
    [SCAN_NEGATIVE] = "is out of range, it should be at least 0pps",
    [SCAN_LARGE] = "is out of range, it should be at most 18446744073709551615 per second",
};

struct unit {
	const char *name;
	uint64_t factor;
	enum rate_unit of; // rates only
};

// Of two texts of one length, the unit that stands first here is printed.
static const struct unit duration_units[] = {
    {"s", 1000000000},	     {"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"min", 60000000000ull},
    {"h", 3600000000000ull}, {NULL, 0},
};

static const struct unit bytes_units[] = {
    {"B", 1},	  {"KiB", 1ull << 10}, {"MiB", 1ull << 20}, {"GiB", 1ull << 30},
    {"kB", 1000}, {"MB", 1000000},     {"GB", 1000000000},  {"", 1},
    {NULL, 0},
};

static const struct unit rate_units[] = {
    {"pps", 1, RATE_PPS},	    {"kpps", 1000, RATE_PPS},	    {"Mpps", 1000000, RATE_PPS},
    {"Gpps", 1000000000, RATE_PPS}, {"bps", 1, RATE_BPS},	    {"kbps", 1000, RATE_BPS},
    {"Mbps", 1000000, RATE_BPS},    {"Gbps", 1000000000, RATE_BPS}, {NULL, 0},
};

// Digits up to anything else; false: 2^64 or more, the rest of the digits is skipped.
static bool digits_scan(const char **text, unsigned base, uint64_t *n)
{
	const char *at = *text;
	bool fits = true;

	*n = 0;
	for (unsigned digit; (digit = digit_value(*at)) < base; at++)
		if (__builtin_mul_overflow(*n, base, n) || __builtin_add_overflow(*n, digit, n))
			fits = false;
	*text = at;
	return fits;
}

enum scan number_scan(const char *text, uint64_t *n, bool *negative)
{
	const char *at = text;
	bool fits;

	*negative = *at == '-';
	at += *negative;
	if (at[0] == '0' && (at[1] == 'x' || at[1] == 'X') && isxdigit((unsigned char)at[2])) {
		at += 2;
		fits = digits_scan(&at, 16, n);
	} else if (isdigit((unsigned char)*at)) {
		fits = digits_scan(&at, 10, n);
		if (at[0] == '.' && at[1] && at[1 + strspn(at + 1, "0123456789")] == '\0')
			return SCAN_FRACTION;
	} else {
		return SCAN_NOT;
	}
	if (*at)
		return SCAN_NOT;
	if (!fits)
		return SCAN_LARGE;
	if (*n == 0)
		*negative = false;
	return *negative ? SCAN_NEGATIVE : SCAN_OK;
}

enum scan double_scan(const char *text, double *number)
{
	const char *at = text + (*text == '-');
	size_t whole = strspn(at, "0123456789");
	size_t rest = whole;

	if (at[rest] == '.')
		rest += 1 + strspn(at + rest + 1, "0123456789");
	if (!whole || at[rest - 1] == '.')
		return SCAN_NOT;
	if (at[rest] == 'e' || at[rest] == 'E') {
		size_t exponent = rest + 1 + (at[rest + 1] == '-' || at[rest + 1] == '+');

		rest = exponent + strspn(at + exponent, "0123456789");
		if (rest == exponent)
			return SCAN_NOT;
	}
	if (at[rest])
		return SCAN_NOT;
	*number = strtod(text, NULL);
	return isfinite(*number) ? SCAN_OK : SCAN_LARGE;
}

static enum scan quantity_scan(const char *text, const struct unit *units, uint64_t *n,
			       const struct unit **unit)
{
	const char *at = text;
	bool negative = *at == '-';
	bool fits;
	uint64_t whole;
	uint64_t fraction = 0;
	uint64_t parts = 1; // of which `fraction` counts
	unsigned __int128 sum;

	at += negative;
	if (!isdigit((unsigned char)*at))
		return SCAN_NOT;
	fits = digits_scan(&at, 10, &whole);
	if (*at == '.') {
		const char *first = ++at;

		if (!isdigit((unsigned char)*at))
			return SCAN_NOT;
		digits_scan(&at, 10, &fraction);
		if (at - first > 18)
			return SCAN_FRACTION;
		for (ptrdiff_t i = 0; i < at - first; i++)
			parts *= 10;
	}
	while (units->name && strcmp(units->name, at) != 0)
		units++;
	if (!units->name)
		return *at ? SCAN_UNIT : SCAN_NO_UNIT;
	if (!fits)
		return negative ? SCAN_NEGATIVE : SCAN_LARGE;
	sum = (unsigned __int128)fraction * units->factor;
	if (sum % parts)
		return SCAN_FRACTION;
	sum = sum / parts + (unsigned __int128)whole * units->factor;
	if (negative && sum)
		return SCAN_NEGATIVE;
	if (sum > UINT64_MAX)
		return SCAN_LARGE;
	*n = (uint64_t)sum;
	*unit = units;
	return SCAN_OK;
}

enum scan duration_scan(const char *text, struct duration *duration)
{
	const struct unit *unit;

	return quantity_scan(text, duration_units, &duration->ns, &unit);
}

enum scan bytes_scan(const char *text, struct bytes *bytes)
{
	const struct unit *unit;

	return quantity_scan(text, bytes_units, &bytes->bytes, &unit);
}

enum scan rate_scan(const char *text, struct rate *rate)
{
	const struct unit *unit;
	enum scan scan = quantity_scan(text, rate_units, &rate->per_s, &unit);

	if (scan == SCAN_OK)
		rate->unit = unit->of;
	return scan;
}

// Zero takes the first unit, as any other unit would be as long or longer.
static const char *quantity_text(struct arena *arena, uint64_t n, const struct unit *units,
				 enum rate_unit of)
{
	const char *best = NULL;

	for (; units->name; units++) {
		const char *text;

		if (units->of != of || !*units->name || n % units->factor)
			continue;
		text = arena_printf(arena, "%llu%s", (unsigned long long)(n / units->factor),
				    units->name);
		if (!best || strlen(text) < strlen(best))
			best = text;
	}
	return best;
}

const char *duration_text(struct arena *arena, struct duration duration)
{
	return quantity_text(arena, duration.ns, duration_units, RATE_PPS);
}

const char *bytes_text(struct arena *arena, struct bytes bytes)
{
	return quantity_text(arena, bytes.bytes, bytes_units, RATE_PPS);
}

const char *rate_text(struct arena *arena, struct rate rate)
{
	return quantity_text(arena, rate.per_s, rate_units, rate.unit);
}

const char *double_text(struct arena *arena, double number)
{
	const char *text = NULL;

	for (int digits = 15; digits <= 17; digits++) {
		text = arena_printf(arena, "%.*g", digits, number);
		if (strtod(text, NULL) == number)
			break;
	}
	return text;
}

bool bool_scan(const char *text, bool *yes)
{
	static const char *const words[] = {"false", "true", "no", "yes", "off", "on"};

	for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(text, words[i])) {
			*yes = i & 1;
			return true;
		}
	return false;
}

static bool scanned(enum scan scan, const char *const *phrases, const char **why)
{
	if (scan != SCAN_OK)
		*why = phrases[scan];
	return scan == SCAN_OK;
}

bool parse_duration(const char *text, struct duration *duration, const char **why)
{
	return scanned(duration_scan(text, duration), duration_why, why);
}

bool parse_bytes(const char *text, struct bytes *bytes, const char **why)
{
	return scanned(bytes_scan(text, bytes), bytes_why, why);
}

bool parse_rate(const char *text, struct rate *rate, const char **why)
{
	return scanned(rate_scan(text, rate), rate_why, why);
}

bool parse_u64(const char *text, uint64_t *n, const char **why)
{
	bool negative;

	return scanned(number_scan(text, n, &negative), number_why, why);
}
