// SPDX-License-Identifier: BSD-3-Clause
// HashSplit: spread flows over the linked gates. Each end of a flow is hashed by itself and the two
// hashes are added, which does not tell one from the other: both directions meet at one gate.

#include <rte_hash_crc.h>

#include "module.h"
#include "packet.h"

enum { HASHSPLIT_MAC, HASHSPLIT_IP, HASHSPLIT_PORT, HASHSPLIT_VLAN, HASHSPLIT_PROTO };

// Headers that end behind this many bytes are not read, so that a packet's gate does not depend on
// how its bytes are spread over segments.
#define HASHSPLIT_BYTES 256

struct hashsplit_field {
	struct choice field;
};

struct hashsplit_params {
	struct param_list fields;
	uint32_t seed;
};

struct hashsplit {
	bool mac, ip, port, vlan, proto;
};

struct hashsplit_hash {
	uint32_t src, dst, both;
};

static const char *const hashsplit_choices[] = {"mac", "ip", "port", "vlan", "proto", NULL};

static const struct param hashsplit_field[] = {
    PARAM(hashsplit_field, field, .choices = hashsplit_choices, .help = "one field"),
    PARAM_END,
};

static const struct param hashsplit_params[] = {
    PARAM(hashsplit_params, fields, .def = "[ip, port, proto]", .min = 1, .fields = hashsplit_field,
	  .help = "what tells flows apart: mac (both addresses), ip (both), port (both, of TCP, "
		  "UDP, SCTP and their like), vlan (the outermost tag), proto (what IP carries)"),
    PARAM(hashsplit_params, seed, .def = "0",
	  .help = "another seed spreads otherwise: for a HashSplit that follows another"),
    PARAM_END,
};

static inline void hashsplit_ports(struct hashsplit_hash *hash, struct view view)
{
	uint8_t proto;
	const uint8_t *bytes = view_l4(view, &proto);
	uint16_t ports[2];

	if (!bytes)
		return;
	switch (proto) {
	case IPPROTO_TCP:
	case IPPROTO_UDP:
	case IPPROTO_SCTP:
	case IPPROTO_DCCP:
	case IPPROTO_UDPLITE:
		memcpy(ports, bytes, sizeof(ports));
		hash->src = rte_hash_crc_4byte(ports[0], hash->src);
		hash->dst = rte_hash_crc_4byte(ports[1], hash->dst);
	}
}

static inline void hashsplit_ipv4(struct hashsplit_hash *hash, const struct rte_ipv4_hdr *ip,
				  struct hashsplit by)
{
	if (by.ip) {
		hash->src = rte_hash_crc_4byte(ip->src_addr, hash->src);
		hash->dst = rte_hash_crc_4byte(ip->dst_addr, hash->dst);
	}
	if (by.proto)
		hash->both = rte_hash_crc_4byte(ip->next_proto_id, hash->both);
}

// The protocol of fragments is not asked for: only the first one is sure to tell it.
static inline void hashsplit_ipv6(struct hashsplit_hash *hash, const struct rte_ipv6_hdr *ip,
				  struct view view, struct hashsplit by)
{
	uint64_t src[2], dst[2];
	uint8_t proto;
	bool fragment;

	if (by.ip) {
		memcpy(src, ip->src_addr, sizeof(src));
		memcpy(dst, ip->dst_addr, sizeof(dst));
		hash->src = rte_hash_crc_8byte(src[1], rte_hash_crc_8byte(src[0], hash->src));
		hash->dst = rte_hash_crc_8byte(dst[1], rte_hash_crc_8byte(dst[0], hash->dst));
	}
	if (by.proto && view_ipv6_end(view, ip, &proto, &fragment))
		hash->both = rte_hash_crc_4byte(proto, hash->both);
}

static inline void hashsplit_macs(struct hashsplit_hash *hash, struct view view)
{
	uint64_t dst, src;

	// The addresses are bytes 0 to 5 and 6 to 11.
	memcpy(&dst, view.bytes, sizeof(dst));
	memcpy(&src, view.bytes + 4, sizeof(src));
	hash->dst = rte_hash_crc_8byte(rte_cpu_to_be_64(dst) >> 16, hash->dst);
	hash->src = rte_hash_crc_8byte(rte_cpu_to_be_64(src) & 0xffffffffffff, hash->src);
}

static inline struct view hashsplit_view(const struct rte_mbuf *pkt, uint8_t copy[HASHSPLIT_BYTES])
{
	struct view view = packet_peek(pkt, copy, HASHSPLIT_BYTES);

	view.here = RTE_MIN(view.here, (uint32_t)HASHSPLIT_BYTES);
	return view;
}

static inline uint32_t hashsplit_hash(struct view view, struct hashsplit by, uint32_t seed)
{
	struct hashsplit_hash hash = {.src = seed, .dst = seed, .both = seed};
	struct rte_ipv4_hdr *ip4 = NULL;
	struct rte_ipv6_hdr *ip6 = NULL;
	uint32_t all;

	if (by.ip || by.port || by.proto) {
		ip4 = view_ipv4(view);
		if (ip4)
			hashsplit_ipv4(&hash, ip4, by);
		else if ((ip6 = view_ipv6(view)))
			hashsplit_ipv6(&hash, ip6, view, by);
		else
			by.mac = true;
		if (by.port)
			hashsplit_ports(&hash, view);
	}
	if (by.mac)
		hashsplit_macs(&hash, view);
	if (by.vlan && view.here >= 18 && vlan_type(*(const unaligned_uint16_t *)&view.bytes[12]))
		hash.both =
		    rte_hash_crc_4byte((view.bytes[14] & 0xf) << 8 | view.bytes[15], hash.both);
	// The gate is taken from the upper bits: bring all of them there.
	all = (hash.src + hash.dst) ^ hash.both;
	all ^= all >> 16;
	return all * 0x9e3779b1u;
}

static void hashsplit_process(struct ctx *ctx, struct batch *in)
{
	const struct hashsplit_params *params = ctx->params;
	struct hashsplit by = *(const struct hashsplit *)ctx->state;
	uint32_t seed = params->seed;
	gate_t linked[GATES_MAX], gates[BATCH_MAX], *to = gates;
	unsigned n = 0;

	for (gate_t gate = 0; gate < ctx->ogates; gate++)
		if (gate_linked(ctx, gate))
			linked[n++] = gate;
	if (unlikely(!n)) {
		drop(ctx, in, REASON_UNCONNECTED);
		return;
	}
	batch_foreach (in, pkt) {
		uint8_t copy[HASHSPLIT_BYTES];
		uint32_t hash = hashsplit_hash(hashsplit_view(pkt, copy), by, seed);

		*to++ = linked[(uint64_t)hash * n >> 32];
	}
	emit_each(ctx, in, gates);
}

static void hashsplit_check(const void *given, struct errors *errors)
{
	const struct hashsplit_params *params = given;
	unsigned seen = 0;

	for (unsigned i = 0; i < params->fields.n; i++) {
		unsigned field = param_item(hashsplit_field, params->fields, i)->field.n;
		char path[32];

		snprintf(path, sizeof(path), "fields[%u]", i);
		if (seen & 1u << field)
			error_input(errors, path, "\"%s\" is given twice, once is enough",
				    hashsplit_choices[field]);
		seen |= 1u << field;
	}
}

static int hashsplit_open(struct node *node, struct errors *errors)
{
	const struct hashsplit_params *params = node->params;
	bool has[RTE_DIM(hashsplit_choices)] = {false};

	(void)errors;
	for (unsigned i = 0; i < params->fields.n; i++)
		has[param_item(hashsplit_field, params->fields, i)->field.n] = true;
	*(struct hashsplit *)node->state = (struct hashsplit){
	    .mac = has[HASHSPLIT_MAC],
	    .ip = has[HASHSPLIT_IP],
	    .port = has[HASHSPLIT_PORT],
	    .vlan = has[HASHSPLIT_VLAN],
	    .proto = has[HASHSPLIT_PROTO],
	};
	return 0;
}

static struct module_type hashsplit = {
    .name = "HashSplit",
    .help = "spreads flows over its linked gates, both directions of a flow to the same one",
    .details = "A packet that is no IP, or whose IP header is nonsense, is hashed by its MAC "
	       "addresses in place of ip, port and proto. Fragments of a datagram all go to one "
	       "gate: they have no ports, and over IPv6 no proto; so they may leave by another "
	       "gate than the whole packets of their flow, unless fields has neither. Headers "
	       "behind the first 256 bytes of a packet are not read.",
    .example = "nodes:\n"
	       "  spread: {HashSplit: {fields: [ip, port, proto]}}\n"
	       "graph:\n"
	       "  - rx -> spread -> q0\n"
	       "  - spread[1] -> q1\n",
    .igates = 1,
    .ogates = GATES_ANY,
    .params = hashsplit_params,
    .state_size = sizeof(struct hashsplit),
    .shared = true,
    .check = hashsplit_check,
    .open = hashsplit_open,
    .process = hashsplit_process,
    .explain = hashsplit_process,
};
MODULE(hashsplit)
