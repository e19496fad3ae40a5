// SPDX-License-Identifier: BSD-3-Clause
// What a packet in words leaves out: next types, lengths, checksums.

#include <netinet/in.h>
#include <string.h>

#include <rte_ip.h>

#include "value/frame.h"

// Where one layer is, among the others.
struct filling {
	uint8_t *bytes;
	unsigned end;
	const struct frame_part *parts;
	unsigned n;
};

static unsigned fold(unsigned sum)
{
	return (sum & 0xffff) + (sum >> 16);
}

// The sum of the pseudo-header for what follows layer i, or -1 where no IP layer is below it.
static int pseudo_sum(const struct filling *f, unsigned i)
{
	const struct frame_part *part = &f->parts[i];
	uint8_t pseudo[40] = {0};
	unsigned size = f->end - part->at;
	const uint8_t *ip;

	if (!i || part[-1].layer->protocol < 0 || part[-1].layer->next_protocol < 0)
		return -1;
	ip = f->bytes + part[-1].at;
	if (part[-1].layer->protocol == IPPROTO_IPV6) {
		memcpy(pseudo, ip + 8, 32);
		bits_put(pseudo, 256, 32, size);
		pseudo[39] = (uint8_t)part->layer->protocol;
		return rte_raw_cksum(pseudo, 40);
	}
	memcpy(pseudo, ip + 12, 8);
	pseudo[9] = (uint8_t)part->layer->protocol;
	bits_put(pseudo, 80, 16, size);
	return rte_raw_cksum(pseudo, 12);
}

// The field itself counts as zero. A UDP checksum that comes out as 0 is sent as 0xffff.
static void sum_put(const struct filling *f, unsigned i, const struct frame_field *field)
{
	const struct frame_part *part = &f->parts[i];
	uint8_t *header = f->bytes + part->at;
	int pseudo = field->fill == FILL_PSEUDO_SUM ? pseudo_sum(f, i) : 0;
	unsigned sum;

	bits_put(header, field->bit, field->bits, 0);
	if (pseudo < 0)
		return;
	sum = rte_raw_cksum(header,
			    field->fill == FILL_HEADER_SUM ? part->length : f->end - part->at);
	sum = ~fold(fold(sum + (unsigned)pseudo)) & 0xffff;
	if (!sum && part->layer->protocol == IPPROTO_UDP)
		sum = 0xffff;
	bits_put(header, field->bit, field->bits, ntohs((uint16_t)sum));
}

// What the layer calls its payload, or -1: that layer cannot be there.
static int next_number(const struct filling *f, unsigned i, enum field_fill fill)
{
	const struct frame_layer *layer = f->parts[i].layer;
	const struct frame_part *next = i + 1 < f->n ? &f->parts[i + 1] : NULL;

	if (fill == FILL_ETHERTYPE)
		return !next ? layer->next_ethertype : next->ethertype ? next->ethertype : -1;
	return next ? next->layer->protocol : layer->next_protocol;
}

// 0, or -1 when the next layer is none that this one can carry.
static int field_put(const struct filling *f, unsigned i, const struct frame_field *field)
{
	const struct frame_part *part = &f->parts[i];
	int64_t n;

	switch (field->fill) {
	case FILL_ETHERTYPE:
	case FILL_PROTOCOL:
		n = next_number(f, i, field->fill);
		break;
	case FILL_LENGTH:
		n = f->end - part->at;
		break;
	case FILL_PAYLOAD:
		n = f->end - part->at - part->length;
		break;
	case FILL_WORDS:
		n = part->length / 4;
		break;
	default:
		return 0;
	}
	if (n < 0)
		return -1;
	bits_put(f->bytes + part->at, field->bit, field->bits, (uint64_t)n);
	return 0;
}

static bool is_sum(const struct frame_field *field)
{
	return field->fill >= FILL_HEADER_SUM;
}

const char *frame_fill(struct arena *arena, uint8_t *bytes, unsigned end,
		       const struct frame_part *parts, unsigned n)
{
	const struct filling f = {bytes, end, parts, n};

	for (unsigned i = 0; i < n; i++) {
		const struct frame_field *fields = parts[i].layer->fields;
		bool carries = false;

		for (unsigned j = 0; fields[j].name; j++) {
			const struct frame_field *field = &fields[j];

			carries = carries || field->fill == FILL_ETHERTYPE ||
				  field->fill == FILL_PROTOCOL;
			if (!(parts[i].given & 1u << j) && field_put(&f, i, field))
				return arena_printf(
				    arena, "%s cannot follow %s, unless %s= of %s is given",
				    parts[i + 1].layer->name, parts[i].layer->name, field->name,
				    parts[i].layer->name);
		}
		if (!carries && i + 1 < n)
			return arena_printf(arena, "%s cannot follow %s", parts[i + 1].layer->name,
					    parts[i].layer->name);
	}
	for (unsigned i = n; i-- > 0;) {
		const struct frame_field *fields = parts[i].layer->fields;

		for (unsigned j = 0; fields[j].name; j++)
			if (is_sum(&fields[j]) && !(parts[i].given & 1u << j))
				sum_put(&f, i, &fields[j]);
	}
	return NULL;
}
