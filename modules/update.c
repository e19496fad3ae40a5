// SPDX-License-Identifier: BSD-3-Clause
// Update: write given bytes at given offsets, in whichever segment they are. What is written is
// laid out in words of up to eight bytes when the node opens.

#include <stdlib.h>

#include "module.h"
#include "packet.h"

struct update_write {
	uint32_t offset;
	struct hex bytes;
	struct hex mask;
};

struct update_params {
	struct param_list writes;
};

struct update_word {
	uint32_t offset;
	uint32_t n;
	uint64_t set; // in memory's order
	uint64_t mask;
};

struct update {
	struct update_word *words;
	unsigned n;
	uint32_t need; // bytes that a packet must have
};

static const struct param update_write[] = {
    PARAM(update_write, offset, .max = 65535, .help = "where, from the packet's first byte"),
    PARAM(update_write, bytes, .min = 1, .max = 65535, .example = "02 00 00 00 00 01",
	  .help = "what is written"),
    PARAM(update_write, mask, .def = "", .max = 65535, .example = "0f ff",
	  .help = "which bits of it are, as many bytes; empty: all"),
    PARAM_END,
};

static const struct param update_params[] = {
    PARAM(update_params, writes, .min = 1, .fields = update_write,
	  .example = "[{offset: 0, bytes: 02 00 00 00 00 01}]",
	  .help = "what to write, in this order"),
    PARAM_END,
};

// A packet whose first segment ends before the last byte of a word.
static void update_slow(struct rte_mbuf *pkt, const struct update *update)
{
	for (unsigned i = 0; i < update->n; i++) {
		const struct update_word *word = &update->words[i];

		packet_write(pkt, word->offset, (const uint8_t *)&word->set,
			     (const uint8_t *)&word->mask, word->n);
	}
}

static void update_process(struct ctx *ctx, struct batch *in)
{
	const struct update *update = ctx->state;
	const struct update_word *words = update->words;
	unsigned n = update->n;
	uint32_t need = update->need;
	gate_t gates[BATCH_MAX], *gate = gates;

	batch_foreach (in, pkt) {
		uint8_t *bytes = rte_pktmbuf_mtod(pkt, uint8_t *);

		*gate++ = rte_pktmbuf_pkt_len(pkt) >= need ? 0 : DROP(REASON_RUNT);
		// Words are read and written as eight bytes, those behind the last as they are.
		if (unlikely(rte_pktmbuf_data_len(pkt) < need + sizeof(uint64_t))) {
			update_slow(pkt, update);
			continue;
		}
		for (unsigned i = 0; i < n; i++) {
			uint64_t word;

			memcpy(&word, bytes + words[i].offset, sizeof(word));
			word = (word & ~words[i].mask) | words[i].set;
			memcpy(bytes + words[i].offset, &word, sizeof(word));
		}
	}
	emit_each(ctx, in, gates);
}

static void update_check(const void *given, struct errors *errors)
{
	const struct update_params *params = given;

	for (unsigned i = 0; i < params->writes.n; i++) {
		const struct update_write *write = param_item(update_write, params->writes, i);
		char path[64];

		if (!write->mask.n || write->mask.n == write->bytes.n)
			continue;
		snprintf(path, sizeof(path), "writes[%u].mask", i);
		error_input(errors, path, "has %u bytes, it should have %u as bytes has",
			    write->mask.n, write->bytes.n);
	}
}

static void update_add(struct update *update, const struct update_write *write)
{
	for (uint32_t at = 0; at < write->bytes.n; at += sizeof(uint64_t)) {
		struct update_word *word = &update->words[update->n++];

		*word = (struct update_word){
		    .offset = write->offset + at,
		    .n = RTE_MIN(write->bytes.n - at, sizeof(uint64_t)),
		};
		memcpy(&word->set, write->bytes.bytes + at, word->n);
		if (write->mask.n)
			memcpy(&word->mask, write->mask.bytes + at, word->n);
		else
			memset(&word->mask, 0xff, word->n);
		word->set &= word->mask;
		update->need = RTE_MAX(update->need, word->offset + word->n);
	}
}

static int update_open(struct node *node, struct errors *errors)
{
	const struct update_params *params = node->params;
	struct update *update = node->state;
	unsigned n = 0;

	for (unsigned i = 0; i < params->writes.n; i++)
		n += param_item(update_write, params->writes, i)->bytes.n / sizeof(uint64_t) + 1;
	update->words = calloc(RTE_MAX(n, 1u), sizeof(*update->words));
	if (!update->words) {
		error_machine(errors, NULL, "no memory for %u words", n);
		return -1;
	}
	for (unsigned i = 0; i < params->writes.n; i++)
		update_add(update, param_item(update_write, params->writes, i));
	return 0;
}

static void update_close(struct node *node)
{
	struct update *update = node->state;

	free(update->words);
}

static struct module_type update = {
    .name = "Update",
    .help = "writes bytes at offsets into each packet",
    .details = "A packet that is too short for one of the writes is dropped as `runt`, and none is "
	       "made. Checksums are not corrected. Bytes under a mask are those whose bits are set "
	       "in it: bytes `40`, mask `f0` writes the upper half of a byte.",
    .example = "nodes:\n"
	       "  ttl: {Update: {writes: [{offset: 22, bytes: 40}, {offset: 15, bytes: b8, "
	       "mask: fc}]}}\n"
	       "graph:\n"
	       "  - rx -> ttl -> tx\n",
    .igates = 1,
    .ogates = 1,
    .params = update_params,
    .state_size = sizeof(struct update),
    .shared = true,
    .check = update_check,
    .open = update_open,
    .close = update_close,
    .process = update_process,
    .explain = update_process,
};
MODULE(update)
