// SPDX-License-Identifier: BSD-3-Clause
// af_packet's rings: receiving with tags and checksums put back where the kernel left them out, and
// sending.

#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <string.h>
#include <sys/socket.h>

#include <rte_branch_prediction.h>
#include <rte_byteorder.h>
#include <rte_ip.h>
#include <rte_mbuf.h>
#include <rte_memcpy.h>

#include "af_packet.h"

#define AF_PACKET_TAG_BYTES 4

static void af_packet_count(uint64_t *counter, uint64_t n)
{
	__atomic_store_n(counter, *counter + n, __ATOMIC_RELAXED);
}

static struct tpacket2_hdr *af_packet_slot(const struct af_packet_ring *ring, uint32_t slot)
{
	return (struct tpacket2_hdr *)(ring->memory +
				       (size_t)(slot / ring->slots_a_block) * ring->block_bytes +
				       (size_t)(slot % ring->slots_a_block) * ring->slot_bytes);
}

static uint32_t af_packet_next(const struct af_packet_ring *ring, uint32_t slot)
{
	return slot + 1 == ring->n_slots ? 0 : slot + 1;
}

// Adds bytes to the end of a packet; false: no memory.
static bool af_packet_append(struct af_packet_receiver *receiver, struct rte_mbuf *pkt,
			     const uint8_t *from, uint32_t n)
{
	struct rte_mbuf *last = rte_pktmbuf_lastseg(pkt);

	while (n) {
		uint32_t part = rte_pktmbuf_tailroom(last);

		if (!part) {
			last->next = rte_pktmbuf_alloc(receiver->pool);
			if (!last->next)
				return false;
			last = last->next;
			pkt->nb_segs++;
			continue;
		}
		part = part < n ? part : n;
		rte_memcpy(rte_pktmbuf_mtod_offset(last, uint8_t *, last->data_len), from, part);
		last->data_len += part;
		pkt->pkt_len += part;
		from += part;
		n -= part;
	}
	return true;
}

// The kernel leaves the checksum of what it sends to the card, and there is none: the sum from
// `start` on, of which the place holds the part of the addresses, is finished here.
static void af_packet_checksum(uint8_t *frame, uint32_t length, uint16_t start, uint16_t offset)
{
	uint16_t sum;

	if (start + offset + 2u > length)
		return;
	sum = (uint16_t)~rte_raw_cksum(frame + start, length - start);
	if (!sum)
		sum = 0xffff;
	memcpy(frame + start + offset, &sum, sizeof(sum));
}

// Copies a frame out of its slot. NULL: no memory.
static struct rte_mbuf *af_packet_copy(struct af_packet_receiver *receiver,
				       const struct tpacket2_hdr *slot, uint8_t *frame)
{
	struct rte_mbuf *pkt = rte_pktmbuf_alloc(receiver->pool);
	uint32_t length = slot->tp_snaplen;
	bool copied;

	if (unlikely(!pkt))
		return NULL;
	if (likely(!(slot->tp_status & TP_STATUS_VLAN_VALID))) {
		copied = af_packet_append(receiver, pkt, frame, length);
	} else {
		uint16_t tag[2] = {rte_cpu_to_be_16(RTE_ETHER_TYPE_VLAN),
				   rte_cpu_to_be_16(slot->tp_vlan_tci)};

		if (slot->tp_status & TP_STATUS_VLAN_TPID_VALID)
			tag[0] = rte_cpu_to_be_16(slot->tp_vlan_tpid);
		copied = af_packet_append(receiver, pkt, frame, 2 * RTE_ETHER_ADDR_LEN) &&
			 af_packet_append(receiver, pkt, (uint8_t *)tag, sizeof(tag)) &&
			 af_packet_append(receiver, pkt, frame + 2 * RTE_ETHER_ADDR_LEN,
					  length - 2 * RTE_ETHER_ADDR_LEN);
	}
	if (likely(copied))
		return pkt;
	rte_pktmbuf_free(pkt);
	return NULL;
}

// One frame out of its slot; NULL: it cannot be received whole, which was counted.
static struct rte_mbuf *af_packet_take(struct af_packet_receiver *receiver,
				       const struct tpacket2_hdr *slot)
{
	uint8_t *frame = (uint8_t *)slot + slot->tp_mac;
	struct virtio_net_hdr how;
	struct rte_mbuf *pkt;

	memcpy(&how, frame - sizeof(how), sizeof(how));
	if (unlikely(slot->tp_len > slot->tp_snaplen || how.gso_type != VIRTIO_NET_HDR_GSO_NONE ||
		     slot->tp_snaplen < RTE_ETHER_HDR_LEN)) {
		af_packet_count(&receiver->errors, 1);
		return NULL;
	}
	if (how.flags & VIRTIO_NET_HDR_F_NEEDS_CSUM)
		af_packet_checksum(frame, slot->tp_snaplen, how.csum_start, how.csum_offset);
	pkt = af_packet_copy(receiver, slot, frame);
	if (unlikely(!pkt))
		af_packet_count(&receiver->no_memory, 1);
	return pkt;
}

uint16_t af_packet_rx(void *receiver_, struct rte_mbuf **pkts, uint16_t n)
{
	struct af_packet_receiver *receiver = receiver_;
	struct af_packet_ring *ring = &receiver->ring;
	uint64_t bytes = 0;
	uint16_t got = 0;

	while (got < n) {
		struct tpacket2_hdr *slot = af_packet_slot(ring, ring->at);
		struct rte_mbuf *pkt;

		if (!(__atomic_load_n(&slot->tp_status, __ATOMIC_ACQUIRE) & TP_STATUS_USER))
			break;
		pkt = af_packet_take(receiver, slot);
		__atomic_store_n(&slot->tp_status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
		ring->at = af_packet_next(ring, ring->at);
		if (unlikely(!pkt))
			continue;
		bytes += pkt->pkt_len;
		pkts[got++] = pkt;
	}
	af_packet_count(&receiver->packets, got);
	af_packet_count(&receiver->bytes, bytes);
	return got;
}

static uint32_t af_packet_longest(const struct af_packet_sender *sender, const struct rte_mbuf *pkt)
{
	const struct rte_ether_hdr *header = rte_pktmbuf_mtod(pkt, const struct rte_ether_hdr *);

	if (pkt->data_len >= RTE_ETHER_HDR_LEN &&
	    header->ether_type == rte_cpu_to_be_16(RTE_ETHER_TYPE_VLAN))
		return sender->longest + AF_PACKET_TAG_BYTES;
	return sender->longest;
}

static void af_packet_fill(struct tpacket2_hdr *slot, const struct rte_mbuf *pkt)
{
	uint8_t *to = (uint8_t *)slot + TPACKET2_HDRLEN - sizeof(struct sockaddr_ll);

	slot->tp_len = pkt->pkt_len;
	for (; pkt; pkt = pkt->next) {
		rte_memcpy(to, rte_pktmbuf_mtod(pkt, const void *), pkt->data_len);
		to += pkt->data_len;
	}
}

uint16_t af_packet_tx(void *sender_, struct rte_mbuf **pkts, uint16_t n)
{
	struct af_packet_sender *sender = sender_;
	struct af_packet_ring *ring = &sender->ring;
	uint64_t bytes = 0;
	uint16_t errors = 0;
	uint16_t done = 0;

	for (; done < n; done++) {
		struct tpacket2_hdr *slot = af_packet_slot(ring, ring->at);
		uint32_t status = __atomic_load_n(&slot->tp_status, __ATOMIC_ACQUIRE);

		if (unlikely(pkts[done]->pkt_len > af_packet_longest(sender, pkts[done]) ||
			     pkts[done]->pkt_len < RTE_ETHER_HDR_LEN)) {
			errors++;
			continue;
		}
		if (unlikely(status & (TP_STATUS_SEND_REQUEST | TP_STATUS_SENDING)))
			break;
		af_packet_fill(slot, pkts[done]);
		bytes += pkts[done]->pkt_len;
		__atomic_store_n(&slot->tp_status, TP_STATUS_SEND_REQUEST, __ATOMIC_RELEASE);
		ring->at = af_packet_next(ring, ring->at);
	}
	if (n)
		af_packet_push(sender);
	if (!done)
		return 0;
	rte_pktmbuf_free_bulk(pkts, done);
	af_packet_count(&sender->packets, done - errors);
	af_packet_count(&sender->bytes, bytes);
	af_packet_count(&sender->errors, errors);
	return done;
}

void af_packet_push(const struct af_packet_sender *sender)
{
	// An interface that is down or busy keeps what is in the ring for the next push.
	send(sender->ring.fd, NULL, 0, MSG_DONTWAIT | MSG_NOSIGNAL);
}

uint32_t af_packet_waiting(const struct af_packet_sender *sender)
{
	const struct af_packet_ring *ring = &sender->ring;
	uint32_t n = 0;

	for (uint32_t i = 0; ring->memory && i < ring->n_slots; i++)
		if (__atomic_load_n(&af_packet_slot(ring, i)->tp_status, __ATOMIC_RELAXED) &
		    (TP_STATUS_SEND_REQUEST | TP_STATUS_SENDING))
			n++;
	return n;
}
