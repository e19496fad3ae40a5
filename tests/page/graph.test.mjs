// SPDX-License-Identifier: BSD-3-Clause
// Layout by the dagre that is served, the walk by keys, a packet's way.

import assert from "node:assert/strict";
import { test } from "node:test";
import * as dagre from "../../core/control/page/vendor/dagre.esm.js";
import { nodesOf, partlyNamed } from "../../core/control/page/gates.js";
import * as layout from "../../core/control/page/layout.js";
import { first, keyDirection, step } from "../../core/control/page/walk.js";
import { endWords, litOf, packetOf } from "../../core/control/page/way.js";

const node = (name, igates, ogates, over) => ({ name, module: "Some", igates, ogates, room: 0, ...over });
const link = (from, ogate, to, igate = 0, back = false) => ({ from, ogate, to, igate, back });
const NODES = [node("rx", 0, 1), node("cls", 1, 2), node("a", 1, 1), node("b", 1, 1), node("tx", 2, 0)];
const LINKS = [
	link("rx", 0, "cls"),
	link("cls", 0, "a"),
	link("cls", 1, "b"),
	link("a", 0, "tx", 0),
	link("b", 0, "tx", 1),
];

for (const down of [false, true]) {
	const way = down ? "down" : "to the right";

	test(`${way}: along the flow, nothing covers another`, () => {
		const all = layout.arrange(dagre, NODES, LINKS, down);
		const along = down ? "y" : "x";
		for (const { from, to } of LINKS) assert.ok(all.boxes.get(from)[along] < all.boxes.get(to)[along]);
		const boxes = [...all.boxes.values()];
		for (const [i, a] of boxes.entries())
			for (const b of boxes.slice(i + 1))
				assert.ok(
					Math.abs(a.x - b.x) >= (a.width + b.width) / 2 ||
						Math.abs(a.y - b.y) >= (a.height + b.height) / 2
				);
	});

	test(`${way}: gates are on their sides, links end at them`, () => {
		const all = layout.arrange(dagre, NODES, LINKS, down);
		const cls = all.boxes.get("cls");
		assert.equal(cls.out.length, 2);
		for (const gate of cls.out)
			assert.equal(down ? gate.y : gate.x, down ? cls.y + cls.height / 2 : cls.x + cls.width / 2);
		const path = all.paths.get("cls[1]");
		assert.deepEqual(path.from, cls.out[1]);
		assert.match(path.d, /^M[-\d. ]+(C[-\d. ]+)+$/);
	});

	test(`${way}: links of a node stand in the order of its gates`, () => {
		const across = down ? "x" : "y";
		for (const [a, b] of [
			["a", "b"],
			["b", "a"],
		]) {
			const links = [link("rx", 0, "cls"), link("cls", 1, b), link("cls", 0, a)];
			const { boxes } = layout.arrange(dagre, NODES.slice(0, 4), links, down);
			assert.ok(boxes.get(a)[across] < boxes.get(b)[across]);
		}
	});

	test(`${way}: loops, and links of a node to itself`, () => {
		const links = [...LINKS, link("a", 0, "a", 0, true), link("b", 0, "cls", 0, true)];
		const all = layout.arrange(dagre, NODES, links, down);
		for (const { d } of all.paths.values()) assert.ok(!/NaN|Infinity|undefined/.test(d));
	});
}

test("many gates, long names, no nodes at all", () => {
	const many = layout.arrange(dagre, [node("x".repeat(200), 64, 64)], [], false);
	const [box] = many.boxes.values();
	assert.ok(box.width <= 260 && box.height >= 64 * 7 && box.in.length === 64);
	assert.equal(layout.arrange(dagre, [], [], false).boxes.size, 0);
});

test("200 nodes are laid out in a moment", () => {
	const nodes = Array.from({ length: 200 }, (_, i) => node(`n${i}`, 2, 2));
	const links = nodes.slice(1).map((one, i) => link(`n${Math.floor(i / 2)}`, i % 2, one.name, i % 2));
	const begin = performance.now();
	assert.equal(layout.arrange(dagre, nodes, links, false).boxes.size, 200);
	assert.ok(performance.now() - begin < 10000);
});

test("width and heat grow with what they show", () => {
	assert.ok(layout.linkWidth(0) < layout.linkWidth(1));
	assert.ok(layout.linkWidth(1e3) < layout.linkWidth(1e7));
	assert.ok(layout.linkWidth(1e12) <= 10);
	assert.equal(layout.linkWidth(NaN), 1);
	assert.equal(layout.heatStep(NaN), 0);
	assert.equal(layout.heatStep(1), 7);
});

test("the walk: along links, across, and back the same way", () => {
	const all = layout.arrange(dagre, NODES, LINKS, false);
	assert.equal(first(all), "rx");
	assert.equal(step(all, LINKS, "rx", "next"), "cls");
	const branch = step(all, LINKS, "cls", "next");
	assert.ok(["a", "b"].includes(branch));
	const other = branch === "a" ? "b" : "a";
	const way = all.boxes.get(other).y > all.boxes.get(branch).y ? "more" : "less";
	assert.equal(step(all, LINKS, branch, way), other);
	assert.equal(step(all, LINKS, "tx", "previous", other), other);
	assert.equal(step(all, LINKS, "tx", "next"), null);
	assert.equal(keyDirection("ArrowRight", false), "next");
	assert.equal(keyDirection("ArrowRight", true), "more");
	assert.equal(keyDirection("x", true), null);
});

test("gates get the names that links tell", () => {
	const stats = {
		cls: { module: "Filter", in: [0], out: [0, 0] },
		q: { module: "Queue", in: [0], out: [], room: 9 },
	};
	const [cls, q] = nodesOf(stats, [{ ...link("cls", 0, "q"), ogate_name: "match", igate_name: null }]);
	assert.deepEqual(cls.onames, ["match", null]);
	assert.equal(q.room, 9);
	assert.ok(partlyNamed(cls));
	assert.ok(!partlyNamed(q));
});

test("a packet's way: its copies below the node that made them, what is lit", () => {
	const step = (name, out, over) => ({
		node: name,
		type: "Some",
		in: 0,
		...(out === null ? {} : { out }),
		...over,
	});
	const packet = packetOf({
		packet: 1,
		frame: "ether",
		length: 60,
		ways: [
			{
				steps: [
					step("rx", 0),
					step("cls", 1, { out_name: "miss", cycles: 9, worker: 0, changed: ["+ vlan id=7"] }),
					step("b", null),
				],
				end: { what: "dropped", reason: "full", help: "a queue was full" },
			},
			{
				from: 0,
				step: 1,
				out: 0,
				steps: [step("a", 0), step("tx", null)],
				end: { what: "sent", port: "right" },
			},
			{ from: 0, step: 1, out: 3, steps: [], end: { what: "dropped", reason: "unconnected" } },
		],
	});
	assert.equal(packet.title, "ether, 60 bytes");
	assert.deepEqual(
		packet.steps.map((one) => [one.node, one.depth]),
		[
			["rx", 0],
			["cls", 0],
			["a", 1],
			["tx", 1],
			["cls", 1],
			["b", 0],
		]
	);
	assert.equal(packet.steps[1].title, "cls[miss] (Some)");
	assert.deepEqual(packet.steps[1].lines, ["9 cycles, worker 0", "+ vlan id=7"]);
	assert.equal(packet.steps[2].lines[0], "a copy by [0] of cls");
	assert.equal(packet.steps[3].end, "sent by port right");
	assert.equal(packet.steps[4].drop, "unconnected");
	assert.equal(packet.steps[5].drop, "full (a queue was full)");
	const lit = litOf(packet, 1);
	assert.deepEqual([...lit.nodes], ["rx", "cls", "a", "tx", "b"]);
	assert.deepEqual([...lit.links].sort(), ["a[0]", "cls[0]", "cls[1]", "cls[3]", "rx[0]"]);
	assert.equal(lit.here, "cls");
	assert.equal(packetOf({ end: { why: "all" } }), null);
	assert.equal(
		endWords({ why: "timeout", packets: 3, asked: 10, events_lost: 0 }),
		"3 of 10 packets; the time was over."
	);
});
