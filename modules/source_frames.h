// SPDX-License-Identifier: BSD-3-Clause
// What Source and Generator share: parameters that say what packets look like, every frame made
// ready from them when the node opens, and a packet filled from the next frame.

#ifndef SLUICE_SOURCE_FRAMES_H
#define SLUICE_SOURCE_FRAMES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_memcpy.h>

#include "module.h"
#include "source_vary.h"

struct source_template {
	struct frame frame;
};

struct source_size {
	uint32_t size;
};

struct source_shape {
	struct param_list templates;
	uint32_t size;
	struct param_list sizes;
	struct param_list fields;
};

static const struct param source_templates[] = {
    PARAM(source_template, frame, .example = "ether / ipv4 / udp dport=53 / pad 60",
	  .help = "a frame in words or in hexadecimal, without FCS"),
    PARAM_END,
};

static const struct param source_sizes[] = {
    PARAM(source_size, size, .min = 14, .max = 65535, .help = "bytes without FCS"),
    PARAM_END,
};

// The rows of a struct STRUCT that has a struct source_shape `shape`.
#define SOURCE_SHAPE(STRUCT)                                                                       \
	PARAM_NAMED(STRUCT, shape.templates, "templates", .def = "", .max = 256,                   \
		    .fields = source_templates, .example = "[ether / ipv4 / udp dport=53]",        \
		    .help = "frames, made in turn; none: a UDP packet of 60 bytes"),               \
	    PARAM_NAMED(STRUCT, shape.size, "size", .def = "0", .max = 65535,                      \
			.help = "bytes of each packet without FCS; 0: as long as its template"),   \
	    PARAM_NAMED(STRUCT, shape.sizes, "sizes", .def = "", .max = 256,                       \
			.fields = source_sizes, .example = "[60, 60, 590, 1514]",                  \
			.help = "instead of size: several, each in turn"),                         \
	    PARAM_NAMED(STRUCT, shape.fields, "fields", .def = "", .max = SOURCE_FIELDS,           \
			.fields = source_fields,                                                   \
			.example = "[{field: ipv4.src, values: 1000, mode: random}]",              \
			.help = "what varies from packet to packet")

// Ether / IPv4 10.0.0.1 > 10.0.0.2 / UDP 1024 > 9; zeros follow.
static const uint8_t source_frame_default[60] = {
    0x02, 0x00, 0x00, 0x00, 0x00, 0x02, 0x02, 0x00, 0x00, 0x00, 0x00, 0x01, 0x08, 0x00,
    0x45, 0x00, 0x00, 0x2e, 0x00, 0x00, 0x00, 0x00, 0x40, 0x11, 0x66, 0xbd, 0x0a, 0x00,
    0x00, 0x01, 0x0a, 0x00, 0x00, 0x02, 0x04, 0x00, 0x00, 0x09, 0x00, 0x1a, 0xe7, 0xae,
};

// A template at one size: a packet to be made.
struct source_frame {
	uint8_t *bytes; // with eight zeros behind
	uint32_t length;
	const struct source_edit *edits; // one for each field
};

struct source_maker {
	struct source_frame *frames;
	struct source_edit *edits;
	unsigned n_frames;
	unsigned next;
	unsigned n_fields;
	uint32_t room; // bytes that the first segment takes
	bool none;     // nothing is written
	struct source_vary fields[SOURCE_FIELDS];
};

// Adds the segments that a packet longer than a buffer needs, and the bytes in them. They belong to
// the packet, and are no packets themselves.
static bool source_chain(struct ctx *ctx, const struct source_maker *maker, struct rte_mbuf *pkt,
			 const struct source_frame *frame)
{
	struct rte_mbuf *last = pkt;

	pkt->data_len = (uint16_t)maker->room;
	for (uint32_t at = maker->room; at < frame->length; at += last->data_len) {
		struct rte_mbuf *seg = rte_pktmbuf_alloc(ctx->node->pool);

		if (!seg)
			return false;
		seg->data_len = (uint16_t)RTE_MIN(frame->length - at, maker->room);
		if (!maker->none)
			memcpy(rte_pktmbuf_mtod(seg, void *), frame->bytes + at, seg->data_len);
		last->next = seg;
		pkt->nb_segs++;
		last = seg;
	}
	return true;
}

// Makes a fresh packet the next frame. false: there was no memory for its further segments, and it
// is to be dropped.
static inline bool source_make(struct ctx *ctx, struct source_maker *maker, struct rte_mbuf *pkt)
{
	const struct source_frame *frame = &maker->frames[maker->next];
	uint8_t *bytes = rte_pktmbuf_mtod(pkt, uint8_t *);

	if (++maker->next == maker->n_frames)
		maker->next = 0;
	pkt->pkt_len = frame->length;
	pkt->data_len = (uint16_t)frame->length;
	if (unlikely(frame->length > maker->room) && !source_chain(ctx, maker, pkt, frame))
		return false;
	if (maker->none)
		return true;
	rte_memcpy(bytes, frame->bytes, pkt->data_len);
	for (unsigned i = 0; i < maker->n_fields; i++) {
		struct source_vary *vary = &maker->fields[i];

		if (!vary->left)
			source_vary_next(vary);
		vary->left--;
		source_edit(bytes, &frame->edits[i], vary->value);
	}
	return true;
}

static unsigned source_n_templates(const struct source_shape *shape)
{
	return shape->templates.n ? shape->templates.n : 1;
}

static unsigned source_n_sizes(const struct source_shape *shape)
{
	return shape->sizes.n ? shape->sizes.n : 1;
}

static struct frame source_template(const struct source_shape *shape, unsigned i)
{
	static const struct frame standard = {.bytes = (uint8_t *)(uintptr_t)source_frame_default,
					      .n = sizeof(source_frame_default)};

	return shape->templates.n ? param_item(source_template, shape->templates, i)->frame
				  : standard;
}

// Bytes of template `i` at size number `j`.
static uint32_t source_size(const struct source_shape *shape, unsigned i, unsigned j)
{
	if (shape->sizes.n)
		return param_item(source_size, shape->sizes, j)->size;
	return shape->size ? shape->size : source_template(shape, i).n;
}

// The parameter that says how long template `i` is at size number `j`.
static const char *source_size_name(const struct source_shape *shape, unsigned i, unsigned j,
				    char *text, size_t n)
{
	if (shape->sizes.n)
		snprintf(text, n, "sizes[%u]", j);
	else if (shape->size)
		return "size";
	else if (shape->templates.n)
		snprintf(text, n, "templates[%u]", i);
	else
		return NULL;
	return text;
}

// Whether template `i` can be what is asked of it.
static void source_check_template(const struct source_shape *shape, unsigned i, bool none,
				  struct errors *errors)
{
	struct frame frame = source_template(shape, i);
	struct source_layout at;
	unsigned offset, bytes;
	char where[40];

	if (frame.n < 14 || frame.n > 65535) {
		snprintf(where, sizeof(where), "templates[%u]", i);
		error_input(errors, where, "a frame of %u bytes; it should have 14 to 65535",
			    frame.n);
		return;
	}
	for (unsigned j = 0; j < source_n_sizes(shape); j++) {
		uint32_t size = source_size(shape, i, j);

		if (size >= frame.n || none)
			continue;
		error_input(errors, source_size_name(shape, i, j, where, sizeof(where)),
			    "%u bytes are too few for template %u, which has %u", size, i, frame.n);
	}
	at = source_layout(frame.bytes, frame.n);
	for (unsigned j = 0; j < shape->fields.n; j++) {
		const struct source_field *field = param_item(source_field, shape->fields, j);

		if (source_place(field, &at, frame.n, &offset, &bytes))
			continue;
		snprintf(where, sizeof(where), "fields[%u]", j);
		error_input(errors, where, "template %u has no %s", i,
			    field->field.n == SOURCE_BYTES ? "such bytes"
							   : source_field_names[field->field.n]);
	}
}

// none: nothing is to be written, only lengths are set.
static void source_shape_check(const struct source_shape *shape, bool none, struct errors *errors)
{
	if (shape->size && shape->sizes.n)
		error_input(errors, "sizes", "there is a `size` too; give one of them");
	if (shape->size && shape->size < 14)
		error_input(errors, "size", "%u is out of range; it should be 0 or 14 to 65535",
			    shape->size);
	if (source_n_templates(shape) * source_n_sizes(shape) > 4096)
		error_input(errors, "sizes",
			    "%u templates in %u sizes are too many; up to 4096 "
			    "frames are kept ready",
			    shape->templates.n, shape->sizes.n);
	for (unsigned i = 0; i < source_n_templates(shape); i++)
		source_check_template(shape, i, none, errors);
}

static bool source_frame_fill(struct source_frame *frame, const struct frame *template,
			      const struct source_layout *at, uint32_t size, bool none)
{
	frame->length = size;
	if (none)
		return true;
	frame->bytes = calloc(1, size + 8);
	if (!frame->bytes)
		return false;
	memcpy(frame->bytes, template->bytes, template->n);
	source_grow(frame->bytes, at, template->n, size);
	return true;
}

// Every template in every size, so that nothing need be worked out later: template by template,
// each in all sizes.
static bool source_prepare(struct source_maker *maker, const struct source_shape *shape)
{
	unsigned n_templates = source_n_templates(shape), n_sizes = source_n_sizes(shape);

	maker->n_frames = n_templates * n_sizes;
	maker->frames = calloc(maker->n_frames, sizeof(*maker->frames));
	maker->edits = calloc(n_templates * SOURCE_FIELDS, sizeof(*maker->edits));
	if (!maker->frames || !maker->edits)
		return false;
	for (unsigned i = 0; i < n_templates; i++) {
		struct source_edit *edits = &maker->edits[(size_t)i * SOURCE_FIELDS];
		struct frame template = source_template(shape, i);
		struct source_layout at = source_layout(template.bytes, template.n);

		for (unsigned j = 0; j < shape->fields.n; j++)
			edits[j] = source_edit_of(param_item(source_field, shape->fields, j), &at,
						  template.n);
		for (unsigned j = 0; j < n_sizes; j++) {
			struct source_frame *frame = &maker->frames[i * n_sizes + j];
			uint32_t size = source_size(shape, i, j);

			frame->edits = edits;
			if (!source_frame_fill(frame, &template, &at, size, maker->none))
				return false;
		}
	}
	return true;
}

// 0, or -1 with the reason in errors; to be closed after a failure too.
static int source_maker_open(struct source_maker *maker, const struct node *node,
			     const struct source_shape *shape, bool none, struct errors *errors)
{
	maker->room = rte_pktmbuf_data_room_size(node->pool) - RTE_PKTMBUF_HEADROOM;
	maker->none = none;
	maker->n_fields = shape->fields.n;
	if (maker->n_fields && maker->room < 1056) {
		error_machine(errors, "fields", "packet buffers of %u bytes are too small",
			      maker->room);
		return -1;
	}
	for (unsigned i = 0; i < maker->n_fields; i++) {
		const struct source_field *field = param_item(source_field, shape->fields, i);

		maker->fields[i] = (struct source_vary){
		    .values = field->values,
		    .step = field->step,
		    .every = field->every,
		    .is_random = field->mode.n == SOURCE_RANDOM,
		    .left = field->mode.n == SOURCE_RANDOM ? 0 : field->every,
		    .random = field->seed,
		};
	}
	if (!source_prepare(maker, shape)) {
		error_machine(errors, "templates", "no memory for %u frames", maker->n_frames);
		return -1;
	}
	return 0;
}

static void source_maker_close(struct source_maker *maker)
{
	for (unsigned i = 0; maker->frames && i < maker->n_frames; i++)
		free(maker->frames[i].bytes);
	free(maker->frames);
	free(maker->edits);
	maker->frames = NULL;
	maker->edits = NULL;
}

#endif
