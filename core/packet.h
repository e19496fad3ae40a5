// SPDX-License-Identifier: BSD-3-Clause
// What modules read and change in a packet: the headers behind its VLAN tags, its tags, bytes in
// any segment, checksums. An accessor returns NULL unless all that it promises is there and sane.

#ifndef SLUICE_PACKET_H
#define SLUICE_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <netinet/in.h>

#include <rte_branch_prediction.h>
#include <rte_byteorder.h>
#include <rte_ether.h>
#include <rte_icmp.h>
#include <rte_ip.h>
#include <rte_mbuf.h>
#include <rte_sctp.h>
#include <rte_tcp.h>
#include <rte_udp.h>

// What lies behind more tags or extension headers than these is not looked for: a packet of
// nothing else must not cost more than an honest one.
#define VLAN_TAGS_MAX 8
#define IP6_EXTENSIONS_MAX 16

// The Ethernet header. Always there: between nodes the first segment has at least 14 bytes.
static inline struct rte_ether_hdr *ether(const struct rte_mbuf *pkt)
{
	return rte_pktmbuf_mtod(pkt, struct rte_ether_hdr *);
}

// Swaps the two addresses of the Ethernet header.
static inline void ether_swap(struct rte_mbuf *pkt)
{
	uint8_t *macs = rte_pktmbuf_mtod(pkt, uint8_t *);
	uint8_t head __attribute__((vector_size(16)));

	// The two bytes behind are read and written as they are, where the buffer has them.
	if (likely(pkt->data_off + sizeof(head) <= pkt->buf_len)) {
		memcpy(&head, macs, sizeof(head));
		head = __builtin_shufflevector(head, head, 6, 7, 8, 9, 10, 11, 0, 1, 2, 3, 4, 5, 12,
					       13, 14, 15);
		memcpy(macs, &head, sizeof(head));
	} else {
		uint8_t dst[RTE_ETHER_ADDR_LEN];

		memcpy(dst, macs, sizeof(dst));
		memcpy(macs, macs + sizeof(dst), sizeof(dst));
		memcpy(macs + sizeof(dst), dst, sizeof(dst));
	}
}

// Whether an Ethernet type (in network byte order) says that a VLAN tag follows.
static inline bool vlan_type(rte_be16_t type)
{
	return type == RTE_BE16(RTE_ETHER_TYPE_VLAN) || type == RTE_BE16(RTE_ETHER_TYPE_QINQ) ||
	       type == RTE_BE16(RTE_ETHER_TYPE_QINQ1);
}

// The outermost tag, whose TPID is ether(pkt)->ether_type, or NULL: not tagged, or the tag is not
// whole in the first segment.
static inline struct rte_vlan_hdr *vlan(const struct rte_mbuf *pkt)
{
	struct rte_ether_hdr *eth = ether(pkt);

	if (!vlan_type(eth->ether_type) || rte_pktmbuf_data_len(pkt) < sizeof(*eth) + 4)
		return NULL;
	return (struct rte_vlan_hdr *)(eth + 1);
}

static inline uint16_t vlan_id(const struct rte_vlan_hdr *tag)
{
	return rte_be_to_cpu_16(tag->vlan_tci) & 0xfff;
}

// The bytes of a packet that headers are looked for in: those of its first segment, or a copy of
// its first bytes (packet_peek).
struct view {
	uint8_t *bytes;
	uint32_t here; // how many can be read
	uint32_t all;  // how many the whole packet has
};

static inline struct view packet_view(const struct rte_mbuf *pkt)
{
	return (struct view){
	    .bytes = rte_pktmbuf_mtod(pkt, uint8_t *),
	    .here = rte_pktmbuf_data_len(pkt),
	    .all = rte_pktmbuf_pkt_len(pkt),
	};
}

// The same, but at least the first `size` bytes can be read (or the whole packet), wherever its
// segments end: where they are in several, they are copied to `copy`. For reading only.
static inline struct view packet_peek(const struct rte_mbuf *pkt, void *copy, uint32_t size)
{
	struct view view = packet_view(pkt);

	if (likely(view.here >= view.all || view.here >= size))
		return view;
	view.here = RTE_MIN(size, view.all);
	view.bytes = (uint8_t *)(uintptr_t)rte_pktmbuf_read(pkt, 0, view.here, copy);
	if (unlikely(!view.bytes))
		return packet_view(pkt);
	return view;
}

// Where the packet behind the Ethernet header and the VLAN tags begins, and its Ethernet type (in
// network byte order). 0: cut within the tags, or more than VLAN_TAGS_MAX of them.
static inline uint32_t view_l3(struct view view, rte_be16_t *type)
{
	uint32_t at = sizeof(struct rte_ether_hdr);

	for (unsigned tags = 0; tags <= VLAN_TAGS_MAX; tags++) {
		if (unlikely(at > view.here))
			return 0;
		memcpy(type, view.bytes + at - sizeof(*type), sizeof(*type));
		if (likely(!vlan_type(*type)))
			return at;
		at += sizeof(struct rte_vlan_hdr);
	}
	return 0;
}

static inline struct rte_ipv4_hdr *view_ipv4(struct view view)
{
	rte_be16_t type;
	uint32_t at = view_l3(view, &type);
	struct rte_ipv4_hdr *ip = (struct rte_ipv4_hdr *)(view.bytes + at);
	uint32_t header, total;

	if (!at || type != RTE_BE16(RTE_ETHER_TYPE_IPV4) || at + sizeof(*ip) > view.here)
		return NULL;
	header = rte_ipv4_hdr_len(ip);
	total = rte_be_to_cpu_16(ip->total_length);
	if (unlikely(ip->version != 4 || header < sizeof(*ip) || at + header > view.here ||
		     total < header || at + total > view.all))
		return NULL;
	return ip;
}

static inline struct rte_ipv6_hdr *view_ipv6(struct view view)
{
	rte_be16_t type;
	uint32_t at = view_l3(view, &type);
	struct rte_ipv6_hdr *ip = (struct rte_ipv6_hdr *)(view.bytes + at);

	if (!at || type != RTE_BE16(RTE_ETHER_TYPE_IPV6) || at + sizeof(*ip) > view.here)
		return NULL;
	if (unlikely(view.bytes[at] >> 4 != 6 ||
		     at + sizeof(*ip) + rte_be_to_cpu_16(ip->payload_len) > view.all))
		return NULL;
	return ip;
}

// The IPv4 header (with its options; see rte_ipv4_hdr_len()), behind any VLAN tags, or NULL: no
// IPv4, or not wholly in the first segment, or its lengths are nonsense (IHL below 5, a total
// length below the header's or beyond the packet's end).
static inline struct rte_ipv4_hdr *ipv4(const struct rte_mbuf *pkt)
{
	return view_ipv4(packet_view(pkt));
}

// The same for IPv6. The payload lies within the packet.
static inline struct rte_ipv6_hdr *ipv6(const struct rte_mbuf *pkt)
{
	return view_ipv6(packet_view(pkt));
}

// Whether the datagram is one of several fragments, the first one too.
static inline bool ipv4_fragment(const struct rte_ipv4_hdr *ip)
{
	return ip->fragment_offset & RTE_BE16(RTE_IPV4_HDR_MF_FLAG | RTE_IPV4_HDR_OFFSET_MASK);
}

// Whether what lies at `bytes`, of which `here` bytes can be read and `all` belong to the
// datagram, is a whole header of that protocol.
static inline bool l4_sane(uint8_t proto, const uint8_t *bytes, uint32_t here, uint32_t all)
{
	uint32_t need;

	here = RTE_MIN(here, all);
	switch (proto) {
	case IPPROTO_TCP:
		if (here < sizeof(struct rte_tcp_hdr))
			return false;
		need = bytes[12] >> 4 << 2;
		return need >= sizeof(struct rte_tcp_hdr) && need <= here;
	case IPPROTO_UDP:
		if (here < sizeof(struct rte_udp_hdr))
			return false;
		need = bytes[4] << 8 | bytes[5];
		return need >= sizeof(struct rte_udp_hdr) && need <= all;
	case IPPROTO_SCTP:
		return here >= sizeof(struct rte_sctp_hdr);
	case IPPROTO_ICMP:
	case IPPROTO_ICMPV6:
		return here >= 8;
	default:
		return here >= 4;
	}
}

// The end of an IPv6 header's chain of extensions: the protocol and the place of what follows it,
// or 0. A header that is a fragment's (and not the only one) sets *fragment.
static inline uint32_t view_ipv6_end(struct view view, const struct rte_ipv6_hdr *ip,
				     uint8_t *proto, bool *fragment)
{
	uint32_t at = (const uint8_t *)(ip + 1) - view.bytes;
	uint32_t end = RTE_MIN(view.here, at + rte_be_to_cpu_16(ip->payload_len));
	int next = ip->proto;

	*fragment = false;
	for (unsigned n = 0; n <= IP6_EXTENSIONS_MAX; n++) {
		static const uint8_t nothing[8];
		bool whole = at + 8 <= end;
		const uint8_t *header = whole ? view.bytes + at : nothing;
		size_t length = 0;
		int after = rte_ipv6_get_next_ext(header, next, &length);

		if (after < 0) {
			*proto = next;
			return next == IPPROTO_NONE ? 0 : at;
		}
		*fragment = next == IPPROTO_FRAGMENT && (header[2] || header[3] & 0xf9);
		if (!whole || *fragment || at + length > end)
			return 0;
		at += length;
		next = after;
	}
	return 0;
}

static inline void *view_l4(struct view view, uint8_t *proto)
{
	struct rte_ipv4_hdr *ip4 = view_ipv4(view);
	struct rte_ipv6_hdr *ip6;
	uint32_t at, end;
	bool fragment;

	if (likely(ip4)) {
		uint32_t begin = (uint8_t *)ip4 - view.bytes;

		if (ipv4_fragment(ip4))
			return NULL;
		*proto = ip4->next_proto_id;
		at = begin + rte_ipv4_hdr_len(ip4);
		end = begin + rte_be_to_cpu_16(ip4->total_length);
	} else {
		ip6 = view_ipv6(view);
		if (!ip6)
			return NULL;
		at = view_ipv6_end(view, ip6, proto, &fragment);
		if (!at)
			return NULL;
		end = (uint8_t *)(ip6 + 1) - view.bytes + rte_be_to_cpu_16(ip6->payload_len);
	}
	if (!l4_sane(*proto, view.bytes + at, view.here - at, end - at))
		return NULL;
	return view.bytes + at;
}

// What IP carries, behind options and extension headers, and its protocol; or NULL: no IP as
// above, a fragment (the first one too), nothing follows, or the header is not wholly in the first
// segment, or nonsense. Whole is the header with its options for TCP, the header for UDP and SCTP,
// 8 bytes for ICMP and ICMPv6, 4 bytes for any other protocol.
static inline void *l4(const struct rte_mbuf *pkt, uint8_t *proto)
{
	return view_l4(packet_view(pkt), proto);
}

// Writes bytes at an offset, across segments where need be; mask NULL: all bits of them, else only
// those set in it. false, and nothing is written, when the packet ends before.
static inline bool packet_write(struct rte_mbuf *pkt, uint32_t offset, const uint8_t *bytes,
				const uint8_t *mask, uint32_t n)
{
	if (unlikely((uint64_t)offset + n > rte_pktmbuf_pkt_len(pkt)))
		return false;
	while (offset >= rte_pktmbuf_data_len(pkt) && pkt->next) {
		offset -= rte_pktmbuf_data_len(pkt);
		pkt = pkt->next;
	}
	for (uint32_t done = 0; pkt && done < n; pkt = pkt->next, offset = 0) {
		uint8_t *to = rte_pktmbuf_mtod_offset(pkt, uint8_t *, offset);
		uint32_t part = RTE_MIN(n - done, rte_pktmbuf_data_len(pkt) - offset);

		for (uint32_t i = 0; mask && i < part; i++)
			to[i] = (to[i] & ~mask[done + i]) | (bytes[done + i] & mask[done + i]);
		if (!mask)
			memcpy(to, bytes + done, part);
		done += part;
	}
	return true;
}

// Makes room for n bytes in front and returns their place, or NULL when the first segment has no
// n bytes to spare, neither before nor behind what it holds.
static inline void *packet_prepend(struct rte_mbuf *pkt, uint16_t n)
{
	uint16_t spare = rte_pktmbuf_tailroom(pkt);

	if (likely(rte_pktmbuf_headroom(pkt) >= n))
		return rte_pktmbuf_prepend(pkt, n);
	if (rte_pktmbuf_headroom(pkt) + spare < n)
		return NULL;
	// Half of the room behind is moved to the front, so that the next call finds some; by an
	// even number of bytes, so that headers stay aligned.
	spare = RTE_MAX(spare / 2 & ~1, n - rte_pktmbuf_headroom(pkt));
	memmove(rte_pktmbuf_mtod_offset(pkt, uint8_t *, spare), rte_pktmbuf_mtod(pkt, uint8_t *),
		rte_pktmbuf_data_len(pkt));
	pkt->data_off += spare;
	return rte_pktmbuf_prepend(pkt, n);
}

// Sees to it that the first n bytes are in the first segment, moving them there from those that
// follow. false: the packet is shorter, or the segment too small.
static inline bool packet_join(struct rte_mbuf *pkt, uint32_t n)
{
	if (likely(rte_pktmbuf_data_len(pkt) >= n))
		return true;
	if (rte_pktmbuf_pkt_len(pkt) < n || pkt->buf_len < n)
		return false;
	if (pkt->data_off + n > pkt->buf_len) {
		memmove(pkt->buf_addr, rte_pktmbuf_mtod(pkt, uint8_t *), pkt->data_len);
		pkt->data_off = 0;
	}
	while (pkt->data_len < n) {
		struct rte_mbuf *next = pkt->next;
		uint32_t part = RTE_MIN(n - pkt->data_len, (uint32_t)next->data_len);

		memcpy(rte_pktmbuf_mtod_offset(pkt, uint8_t *, pkt->data_len),
		       rte_pktmbuf_mtod(next, uint8_t *), part);
		pkt->data_len += part;
		next->data_len -= part;
		next->data_off += part;
		if (!next->data_len) {
			pkt->next = next->next;
			pkt->nb_segs--;
			rte_pktmbuf_free_seg(next);
		}
	}
	return true;
}

// Takes n bytes off the front; what follows begins in the first segment, with at least its
// Ethernet header. false: the packet is too short for that, and stays as it was.
static inline bool packet_cut(struct rte_mbuf *pkt, uint16_t n)
{
	if (unlikely(!packet_join(pkt, n + (uint32_t)sizeof(struct rte_ether_hdr))))
		return false;
	return rte_pktmbuf_adj(pkt, n);
}

// An internet checksum (as it stands in a header) after n of the bytes that it covers changed, at
// an even distance from their beginning (RFC 1624). n is even.
static inline rte_be16_t checksum_update(rte_be16_t checksum, const void *old, const void *new,
					 unsigned n)
{
	uint64_t sum = (uint16_t)~checksum;

	for (unsigned i = 0; i + 2 <= n; i += 2) {
		uint16_t was, is;

		memcpy(&was, (const uint8_t *)old + i, 2);
		memcpy(&is, (const uint8_t *)new + i, 2);
		sum += (uint16_t)~was + is;
	}
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return ~sum;
}

#endif
