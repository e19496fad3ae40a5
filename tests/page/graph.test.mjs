// SPDX-License-Identifier: BSD-3-Clause
// Layout by the dagre that is served, the walk by keys, a packet's way.

import assert from "node:assert/strict";
import { test } from "node:test";
import * as dagre from "../../core/control/page/vendor/dagre.esm.js";
import { nodesOf, partlyNamed } from "../../core/control/page/gates.js";
import * as layout from "../../core/control/page/layout.js";
import { first, keyDirection, step } from "../../core/control/page/walk.js";
import { litOf, waysOf } from "../../core/control/page/way.js";

const node = (name, igates, ogates, over) => ({ name, module: "Some", igates, ogates, room: 0, ...over });
const link = (from, ogate, to, igate = 0, back = false) => ({ from, ogate, to, igate, back });
const NODES = [node("rx", 0, 1), node("cls", 1, 2), node("a", 1, 1), node("b", 1, 1), node("tx", 2, 0)];
const LINKS = [link("rx", 0, "cls"), link("cls", 0, "a"), link("cls", 1, "b"), link("a", 0, "tx", 0), link("b", 0, "tx", 1)];

for (const down of [false, true]) {
	const way = down ? "down" : "to the right";

	test(`${way}: along the flow, nothing covers another`, () => {
		const all = layout.arrange(dagre, NODES, LINKS, down);
		const along = down ? "y" : "x";
		for (const { from, to } of LINKS)
			assert.ok(all.boxes.get(from)[along] < all.boxes.get(to)[along]);
		const boxes = [...all.boxes.values()];
		for (const [i, a] of boxes.entries())
			for (const b of boxes.slice(i + 1))
				assert.ok(Math.abs(a.x - b.x) >= (a.width + b.width) / 2 || Math.abs(a.y - b.y) >= (a.height + b.height) / 2);
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

	test(`${way}: loops, and links of a node to itself`, () => {
		const links = [...LINKS, link("a", 0, "a", 0, true), link("b", 0, "cls", 0, true)];
		const all = layout.arrange(dagre, NODES, links, down);
		for (const { d } of all.paths.values())
			assert.ok(!/NaN|Infinity|undefined/.test(d));
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
	const stats = { cls: { module: "Filter", in: [0], out: [0, 0] }, q: { module: "Queue", in: [0], out: [], room: 9 } };
	const [cls, q] = nodesOf(stats, [{ ...link("cls", 0, "q"), ogate_name: "match", igate_name: null }]);
	assert.deepEqual(cls.onames, ["match", null]);
	assert.equal(q.room, 9);
	assert.ok(partlyNamed(cls));
	assert.ok(!partlyNamed(q));
});

test("a way: nodes and links that it lights, step by step", () => {
	const [way] = waysOf({ ways: [{ steps: [{ node: "rx", ogate: 0 }, { node: "cls", ogate: 1 }, { node: "b" }] }] });
	const lit = litOf(way, 1, LINKS);
	assert.deepEqual([...lit.nodes], ["rx", "cls", "b"]);
	assert.deepEqual([...lit.links], ["rx[0]", "cls[1]"]);
	assert.equal(lit.here, "cls");
});
