// SPDX-License-Identifier: BSD-3-Clause
// Source: makes packets from templates, in which fields may count up or vary at random from a seed.

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

struct source_params {
	struct param_list templates;
	uint32_t size;
	struct param_list sizes;
	uint64_t count;
	uint16_t burst;
	struct choice fill;
	struct param_list fields;
};

enum { SOURCE_TEMPLATE, SOURCE_NONE };
static const char *const source_fill[] = {"template", "none", NULL};

static const struct param source_templates[] = {
    PARAM(source_template, frame, .example = "ether / ipv4 / udp dport=53 / pad 60",
	  .help = "a frame in words or in hexadecimal, without FCS"),
    PARAM_END,
};

static const struct param source_sizes[] = {
    PARAM(source_size, size, .min = 14, .max = 65535, .help = "bytes without FCS"),
    PARAM_END,
};

static const struct param source_params[] = {
    PARAM(source_params, templates, .def = "", .max = 256, .fields = source_templates,
	  .example = "[ether / ipv4 / udp dport=53]",
	  .help = "frames, made in turn; none: a UDP packet of 60 bytes"),
    PARAM(source_params, size, .def = "0", .max = 65535,
	  .help = "bytes of each packet without FCS; 0: as long as its template"),
    PARAM(source_params, sizes, .def = "", .max = 256, .fields = source_sizes,
	  .example = "[60, 60, 590, 1514]", .help = "instead of size: several, each in turn"),
    PARAM(source_params, count, .def = "0", .help = "packets to make; 0: without end"),
    PARAM(source_params, burst, .def = "0", .max = BATCH_MAX,
	  .help = "packets made at once; 0: the graph's setting"),
    PARAM(source_params, fill, .def = "template", .choices = source_fill,
	  .help = "none: only lengths are set, the bytes are whatever the buffer holds"),
    PARAM(source_params, fields, .def = "", .max = SOURCE_FIELDS, .fields = source_fields,
	  .example = "[{field: ipv4.src, values: 1000, mode: random}]",
	  .help = "what varies from packet to packet"),
    PARAM_END,
};

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

struct source {
	struct source_frame *frames;
	struct source_edit *edits;
	unsigned n_frames;
	unsigned next;
	unsigned n_fields;
	uint32_t room;	 // bytes that the first segment takes
	bool none;	 // nothing is written
	uint16_t length; // of every packet, where nothing more need be done to one; else 0
	bool finite;
	uint16_t burst; // 0: the graph's setting, which may change with it
	uint64_t left;	// packets still to be made, if finite
	struct source_vary fields[SOURCE_FIELDS];
};

// Adds the segments that a packet longer than a buffer needs, and the bytes in them. They belong to
// the packet, and are no packets themselves.
static bool source_chain(struct ctx *ctx, struct rte_mbuf *pkt, const struct source_frame *frame)
{
	const struct source *state = ctx->state;
	struct rte_mbuf *last = pkt;

	pkt->data_len = (uint16_t)state->room;
	for (uint32_t at = state->room; at < frame->length; at += last->data_len) {
		struct rte_mbuf *seg = rte_pktmbuf_alloc(ctx->node->pool);

		if (!seg)
			return false;
		seg->data_len = (uint16_t)RTE_MIN(frame->length - at, state->room);
		if (!state->none)
			memcpy(rte_pktmbuf_mtod(seg, void *), frame->bytes + at, seg->data_len);
		last->next = seg;
		pkt->nb_segs++;
		last = seg;
	}
	return true;
}

static inline const struct source_frame *source_next(struct source *state)
{
	const struct source_frame *frame = &state->frames[state->next];

	if (++state->next == state->n_frames)
		state->next = 0;
	return frame;
}

static __attribute__((noinline)) void source_write(struct ctx *ctx, struct batch *batch)
{
	struct source *state = ctx->state;
	unsigned n = 0;

	batch_foreach (batch, pkt) {
		const struct source_frame *frame = source_next(state);
		uint8_t *bytes = rte_pktmbuf_mtod(pkt, uint8_t *);

		pkt->pkt_len = frame->length;
		pkt->data_len = (uint16_t)frame->length;
		if (unlikely(frame->length > state->room) && !source_chain(ctx, pkt, frame)) {
			packet_drop(ctx, pkt, REASON_NO_MEMORY);
			continue;
		}
		batch->pkts[n++] = pkt;
		if (state->none)
			continue;
		rte_memcpy(bytes, frame->bytes, pkt->data_len);
		for (unsigned i = 0; i < state->n_fields; i++) {
			struct source_vary *vary = &state->fields[i];

			if (!vary->left)
				source_vary_next(vary);
			vary->left--;
			source_edit(bytes, &frame->edits[i], vary->value);
		}
	}
	batch->n = n;
}

static int source_poll(struct ctx *ctx)
{
	struct source *state = ctx->state;
	unsigned n = state->burst ? state->burst : ctx->node->burst;
	struct batch *batch;

	if (state->finite) {
		if (!state->left)
			return POLL_ENDED;
		n = (unsigned)RTE_MIN((uint64_t)n, state->left);
	}
	batch = batch_new(ctx);
	if (unlikely(!batch))
		return 0;
	if (unlikely(!packets_new(ctx, batch->pkts, n, state->length))) {
		batch_free(ctx, batch);
		return 0;
	}
	batch->n = n;
	state->left -= n;
	if (!state->length)
		source_write(ctx, batch);
	emit(ctx, batch, 0);
	return (int)n;
}

static unsigned source_n_templates(const struct source_params *params)
{
	return params->templates.n ? params->templates.n : 1;
}

static unsigned source_n_sizes(const struct source_params *params)
{
	return params->sizes.n ? params->sizes.n : 1;
}

static struct frame source_template(const struct source_params *params, unsigned i)
{
	static const struct frame standard = {.bytes = (uint8_t *)(uintptr_t)source_frame_default,
					      .n = sizeof(source_frame_default)};

	return params->templates.n ? param_item(source_template, params->templates, i)->frame
				   : standard;
}

// Bytes of template `i` at size number `j`.
static uint32_t source_size(const struct source_params *params, unsigned i, unsigned j)
{
	if (params->sizes.n)
		return param_item(source_size, params->sizes, j)->size;
	return params->size ? params->size : source_template(params, i).n;
}

// Whether template `i` can be what is asked of it.
static void source_check_template(const struct source_params *params, unsigned i,
				  struct errors *errors)
{
	struct frame frame = source_template(params, i);
	struct source_layout at;
	unsigned offset, bytes;
	char where[40];

	snprintf(where, sizeof(where), "templates[%u]", i);
	if (frame.n < 14 || frame.n > 65535) {
		error_input(errors, where, "a frame of %u bytes; it should have 14 to 65535",
			    frame.n);
		return;
	}
	for (unsigned j = 0; j < source_n_sizes(params); j++) {
		uint32_t size = source_size(params, i, j);

		if (size >= frame.n || params->fill.n == SOURCE_NONE)
			continue;
		snprintf(where, sizeof(where), params->sizes.n ? "sizes[%u]" : "size", j);
		error_input(errors, where, "%u bytes are too few for template %u, which has %u",
			    size, i, frame.n);
	}
	at = source_layout(frame.bytes, frame.n);
	for (unsigned j = 0; j < params->fields.n; j++) {
		const struct source_field *field = param_item(source_field, params->fields, j);

		if (source_place(field, &at, frame.n, &offset, &bytes))
			continue;
		snprintf(where, sizeof(where), "fields[%u]", j);
		error_input(errors, where, "template %u has no %s", i,
			    field->field.n == SOURCE_BYTES ? "such bytes"
							   : source_field_names[field->field.n]);
	}
}

static void source_check(const void *p, struct errors *errors)
{
	const struct source_params *params = p;
	unsigned n_frames = source_n_templates(params) * source_n_sizes(params);

	if (params->size && params->sizes.n)
		error_input(errors, "sizes", "there is a `size` too; give one of them");
	if (params->size && params->size < 14)
		error_input(errors, "size", "%u is out of range; it should be 0 or 14 to 65535",
			    params->size);
	if (n_frames > 4096)
		error_input(errors, "sizes",
			    "%u templates in %u sizes are too many; up to 4096 "
			    "frames are kept ready",
			    params->templates.n, params->sizes.n);
	if (params->fill.n == SOURCE_NONE && params->templates.n)
		error_input(errors, "templates", "with `fill: none` nothing is written");
	if (params->fill.n == SOURCE_NONE && params->fields.n)
		error_input(errors, "fields", "with `fill: none` nothing is written");
	for (unsigned i = 0; i < source_n_templates(params); i++)
		source_check_template(params, i, errors);
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

// Every template in every size, so that nothing need be worked out later.
static bool source_prepare(struct source *state, const struct source_params *params)
{
	unsigned n_templates = source_n_templates(params), n_sizes = source_n_sizes(params);

	state->n_frames = n_templates * n_sizes;
	state->frames = calloc(state->n_frames, sizeof(*state->frames));
	state->edits = calloc(n_templates * SOURCE_FIELDS, sizeof(*state->edits));
	if (!state->frames || !state->edits)
		return false;
	for (unsigned i = 0; i < n_templates; i++) {
		struct source_edit *edits = &state->edits[(size_t)i * SOURCE_FIELDS];
		struct frame template = source_template(params, i);
		struct source_layout at = source_layout(template.bytes, template.n);

		for (unsigned j = 0; j < params->fields.n; j++)
			edits[j] = source_edit_of(param_item(source_field, params->fields, j), &at,
						  template.n);
		for (unsigned j = 0; j < n_sizes; j++) {
			struct source_frame *frame = &state->frames[i * n_sizes + j];
			uint32_t size = source_size(params, i, j);

			frame->edits = edits;
			if (!source_frame_fill(frame, &template, &at, size, state->none))
				return false;
		}
	}
	return true;
}

static bool source_finite(const struct node *node)
{
	return ((const struct source_params *)node->params)->count > 0;
}

// With other parameters it begins anew, and is meant to.
static const char *source_loses(const void *params, const void *old_params)
{
	(void)params;
	(void)old_params;
	return NULL;
}

static int source_open(struct node *node, struct errors *errors)
{
	const struct source_params *params = node->params;
	struct source *state = node->state;

	state->room = rte_pktmbuf_data_room_size(node->pool) - RTE_PKTMBUF_HEADROOM;
	state->none = params->fill.n == SOURCE_NONE;
	state->burst = params->burst;
	state->finite = params->count > 0;
	state->left = params->count;
	state->n_fields = params->fields.n;
	if (state->n_fields && state->room < 1056) {
		error_machine(errors, "fields", "packet buffers of %u bytes are too small",
			      state->room);
		return -1;
	}
	for (unsigned i = 0; i < state->n_fields; i++) {
		const struct source_field *field = param_item(source_field, params->fields, i);

		state->fields[i] = (struct source_vary){
		    .values = field->values,
		    .step = field->step,
		    .every = field->every,
		    .is_random = field->mode.n == SOURCE_RANDOM,
		    .left = field->mode.n == SOURCE_RANDOM ? 0 : field->every,
		    .random = field->seed,
		};
	}
	if (!source_prepare(state, params)) {
		error_machine(errors, "templates", "no memory for %u frames", state->n_frames);
		return -1;
	}
	if (state->none && state->n_frames == 1 && state->frames[0].length <= state->room)
		state->length = (uint16_t)state->frames[0].length;
	return 0;
}

static void source_close(struct node *node)
{
	struct source *state = node->state;

	for (unsigned i = 0; state->frames && i < state->n_frames; i++)
		free(state->frames[i].bytes);
	free(state->frames);
	free(state->edits);
	state->frames = NULL;
	state->edits = NULL;
}

static struct module_type source = {
    .name = "Source",
    .help = "makes packets from templates",
    .details =
	"The templates are made in turn, each in every size. A longer size adds zero bytes, and "
	"the lengths of IP and UDP grow along if they reached to the frame's end. A field takes "
	"`values` different values: the template's own, then `step` more each time (beyond its "
	"width it wraps), in turn or at random; IPv4, UDP, TCP and ICMP checksums follow. With "
	"several fields that count, `every` makes all combinations: the second field's `every` is "
	"the first one's `values`. `ipv6.src` and `ipv6.dst` vary in their lower 64 bits, "
	"`vlan.id` is that of the outer tag. With `count` the node ends after so many packets. "
	"`fill: none` measures the engine alone.",
    .example = "nodes:\n"
	       "  gen:\n"
	       "    Source:\n"
	       "      templates: [ether / ipv4 / udp dport=53]\n"
	       "      size: 60\n"
	       "      count: 1000000\n"
	       "      fields:\n"
	       "        - {field: ipv4.src, values: 65536, mode: random, seed: 7}\n"
	       "        - {field: sport, values: 1000}\n",
    .ogates = 1,
    .params = source_params,
    .state_size = sizeof(struct source),
    .check = source_check,
    .open = source_open,
    .close = source_close,
    .poll = source_poll,
    .finite = source_finite,
    .loses = source_loses,
};
MODULE(source)
