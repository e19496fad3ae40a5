// SPDX-License-Identifier: BSD-3-Clause
// Numbers with units, rates, rings.

import assert from "node:assert/strict";
import { test } from "node:test";
import * as format from "../../core/control/page/format.js";
import { History } from "../../core/control/page/history.js";
import { compare, rate } from "../../core/control/page/rates.js";

const plain = (text) => text.replace(/\u00a0/g, " ");

test("numbers have three digits that say something", () => {
	for (const [n, wanted] of [
		[0, "0 pps"],
		[0.5, "0.50 pps"],
		[0.001, "< 0.01 pps"],
		[7, "7 pps"],
		[999, "999 pps"],
		[999.6, "1.00 kpps"],
		[1234, "1.23 kpps"],
		[12345, "12.3 kpps"],
		[123456, "123 kpps"],
		[14880952, "14.9 Mpps"],
		[1e9, "1.00 Gpps"],
		[NaN, "–"],
		[null, "–"],
	])
		assert.equal(plain(format.packetRate(n)), wanted);
});

test("shares, sizes, times", () => {
	assert.equal(plain(format.percent(0)), "0 %");
	assert.equal(plain(format.percent(0.0004)), "< 0.1 %");
	assert.equal(plain(format.percent(0.034)), "3.4 %");
	assert.equal(plain(format.percent(0.999)), "100 %");
	assert.equal(plain(format.bytes(1500)), "1.50 kB");
	assert.equal(plain(format.bitRate(2.5e9)), "2.50 Gbit/s");
	assert.equal(plain(format.duration(59.9)), "59 s");
	assert.equal(plain(format.duration(3700)), "1 h 1 min");
	assert.equal(plain(format.duration(200000)), "2 d 7 h");
	assert.equal(plain(format.shortTime(812)), "812 ns");
	assert.equal(plain(format.shortTime(12345)), "12.3 µs");
	assert.equal(format.count(1234567), "1,234,567");
	assert.equal(format.count(18446744073709552000), "18,446,744,073,709,552,000");
});

test("reasons: the largest first, and how many more", () => {
	assert.equal(
		plain(format.reasons({ full: 5, runt: 0, unconnected: 2000, refused: 1 })),
		"unconnected 2.00 kpps, full 5 pps, +1"
	);
	assert.equal(format.reasons({ full: 0 }), "");
});

const node = (over) => ({
	module: "MACSwap",
	in: [0],
	out: [0],
	made: 0,
	consumed: 0,
	held: 0,
	dropped: {},
	batches: 0,
	cycles: 0,
	cycles_sampled: 0,
	...over,
});
const stats = (seconds, nodes, over) => ({
	time_ns: 1e18 + seconds * 1e9,
	seconds,
	nodes,
	ports: {},
	workers: [],
	...over,
});

test("what is smaller than before is no rate", () => {
	assert.equal(rate(30, 10, 2), 10);
	assert.ok(Number.isNaN(rate(5, 10, 1)));
	assert.ok(Number.isNaN(rate(5, undefined, 1)));
	assert.ok(Number.isNaN(rate(5, 1, 0)));
});

test("rates of nodes, and their shares of cycles", () => {
	const before = stats(10, { a: node(), b: node() });
	const now = stats(12, {
		a: node({ in: [200], out: [200], batches: 20, cycles: 3000, cycles_sampled: 100 }),
		b: node({
			in: [200],
			out: [150],
			batches: 10,
			cycles: 1000,
			cycles_sampled: 100,
			dropped: { full: 50 },
			room: 64,
			held: 8,
		}),
	});
	const { nodes, dropped } = compare(now, before);
	assert.equal(nodes.get("a").packets, 100);
	assert.equal(nodes.get("a").perPacket, 30);
	assert.equal(nodes.get("a").batch, 10);
	assert.equal(nodes.get("a").share, 0.75);
	assert.equal(nodes.get("b").drops.full, 25);
	assert.equal(nodes.get("b").room, 64);
	assert.equal(dropped, 25);
});

test("a node of another module has no rate yet", () => {
	const before = stats(1, { a: node({ in: [100] }) });
	const { nodes } = compare(stats(2, { a: node({ module: "Sink", in: [150] }) }), before);
	assert.ok(Number.isNaN(nodes.get("a").packets));
	assert.ok(Number.isNaN(compare(before, null).nodes.get("a").packets));
});

test("workers' load, ports' errors", () => {
	const worker = (busy, idle) => [{ core: 3, polls: 0, busy_cycles: busy, idle_cycles: idle }];
	const port = (n) => ({ left: { driver: "pcap", rx_packets: n, rx_missed: n } });
	const { workers, ports } = compare(
		stats(2, {}, { workers: worker(30, 10), ports: port(20) }),
		stats(1, {}, { workers: worker(0, 0), ports: port(0) })
	);
	assert.deepEqual(workers, [{ core: 3, load: 0.75 }]);
	assert.equal(ports.get("left").errors, 20);
});

test("rings: in order, bounded, gaps, what is gone is let go", () => {
	const history = new History(4);
	const add = (time, packets) =>
		history.add({
			time,
			nodes: new Map([
				[
					"a",
					{
						packets,
						in: [],
						out: [],
						made: 0,
						consumed: 0,
						dropped: 0,
						drops: {},
						counters: {},
						held: 0,
						perPacket: NaN,
						batch: NaN,
						share: 0,
					},
				],
			]),
			ports: new Map(),
			workers: [],
			made: 0,
			consumed: 0,
			dropped: 0,
		});
	add(1, 0);
	add(2, 20);
	assert.deepEqual(history.read(["a\0packets"]), [
		[1, 2],
		[0, 20],
	]);
	history.gap(3);
	add(4, 40);
	add(5, 50);
	assert.deepEqual(history.read(["a\0packets"]), [
		[2, 3, 4, 5],
		[20, null, 40, 50],
	]);
	assert.deepEqual(history.seriesOf("a"), ["packets"]);
	for (let i = 0; i < 12; i++) add(6 + i, 0);
	assert.equal(history.rings.size, 0);
	assert.equal(history.times.length, 4);
});
