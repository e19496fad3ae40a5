// SPDX-License-Identifier: BSD-3-Clause
// Forms from tables, faults at their fields, streams that are cut anywhere.

import assert from "node:assert/strict";
import { test } from "node:test";
import { bodyOf, faultsOf, fieldOf, hintOf, rowsOf } from "../../core/control/page/forms.js";
import { words } from "../../core/control/page/log.js";
import { Lines } from "../../core/control/page/ndjson.js";
import { Blocks } from "../../core/control/page/pcapng.js";

const ARGS = [
	{ name: "mac", type: "MAC address", range: "", required: true },
	{ name: "gate", type: "output gate", range: "", required: true },
	{ name: "vlan", type: "number", range: "0 to 4094, default 0" },
	{ name: "mode", type: "auto|on|off", range: "" },
	{ name: "text", type: "text", range: "" },
	{ name: "entries", type: "list of {mac, gate}", range: "" },
];

test("fields by type", () => {
	assert.deepEqual(
		ARGS.map((one) => fieldOf(one).kind),
		["text", "text", "text", "choice", "text", "lines"]
	);
	assert.deepEqual(fieldOf({ type: "true|false" }).choices, ["true", "false"]);
	assert.equal(fieldOf(ARGS[2]).mode, "numeric");
	assert.equal(hintOf(ARGS[2]), "number, 0 to 4094, default 0");
});

test("what is sent: numbers without quotes, the empty left out, the rest as text", () => {
	assert.equal(
		bodyOf(ARGS, { mac: "02:00:00:00:00:01", gate: "1", vlan: " ", mode: "on", text: "7" }),
		'{"mac": "02:00:00:00:00:01", "gate": 1, "mode": on, "text": "7"}'
	);
	assert.equal(bodyOf(ARGS, { entries: "{mac: a, gate: 1}" }), '{"entries": {mac: a, gate: 1}}');
	assert.equal(bodyOf(ARGS, { entries: "a, b" }), '{"entries": [a, b]}');
	assert.equal(bodyOf(ARGS, { gate: '1", "x": "2' }), String.raw`{"gate": "1\", \"x\": \"2"}`);
	assert.equal(bodyOf([], {}), "{}");
});

test("faults at their fields, in the server's words", () => {
	const { fields, others } = faultsOf(
		[
			{ message: 'fwd add: mac: "zz" is not a MAC address (for example 02:00:00:00:00:01)' },
			{ message: "fwd add: gate is missing, it should be an output gate" },
			{ message: "fwd add: entries[2]: mac is missing" },
			{ message: 'fwd add: "vlna" is not a parameter; did you mean "vlan"?' },
			{ message: "the table is full" },
		],
		"fwd add",
		ARGS
	);
	assert.deepEqual(fields.get("mac"), ['"zz" is not a MAC address (for example 02:00:00:00:00:01)']);
	assert.deepEqual(fields.get("gate"), ["is missing, it should be an output gate"]);
	assert.deepEqual(fields.get("entries"), ["[2]: mac is missing"]);
	assert.deepEqual(others, ['"vlna" is not a parameter; did you mean "vlan"?', "the table is full"]);
});

test("faults that tell their field by a word", () => {
	const args = [{ name: "filter", type: "text", range: "", fault: "pcap-filter expression" }];
	const text = '"no such" is no pcap-filter expression: syntax error';
	assert.deepEqual(faultsOf([{ message: text }], "capture", args).fields.get("filter"), [text]);
});

test("answers as rows, where they are alike", () => {
	assert.deepEqual(
		rowsOf([
			{ mac: "a", gate: 1 },
			{ mac: "b", static: true },
		]),
		{
			columns: ["mac", "gate", "static"],
			rows: [
				["a", "1", ""],
				["b", "", "true"],
			],
		}
	);
	assert.equal(rowsOf([]), null);
	assert.equal(rowsOf([1, 2]), null);
	assert.equal(rowsOf({ a: 1 }), null);
});

function block(type, length, little = true) {
	const bytes = new Uint8Array(length);
	const view = new DataView(bytes.buffer);
	view.setUint32(0, type, little);
	view.setUint32(4, length, little);
	if (type === 0x0a0d0d0a) view.setUint32(8, 0x1a2b3c4d, little);
	view.setUint32(length - 4, length, little);
	return bytes;
}

for (const little of [true, false])
	test(`pcapng, ${little ? "little" : "big"} endian, cut anywhere: whole blocks are kept`, () => {
		const file = Buffer.concat([
			block(0x0a0d0d0a, 28, little),
			block(1, 20, little),
			block(6, 64, little),
			block(6, 40, little),
			block(5, 24, little),
		]);
		for (let cut = 0; cut <= file.length; cut += 4)
			for (const size of [1, 7, 64, 1000]) {
				const blocks = new Blocks();
				for (let at = 0; at < cut; at += size)
					blocks.add(new Uint8Array(file.subarray(at, Math.min(at + size, cut))));
				const kept = Buffer.concat(blocks.parts());
				const wanted = [176, 152, 112, 48, 28, 0].find((n) => n <= cut);
				assert.equal(kept.length, wanted);
				assert.deepEqual(kept, file.subarray(0, wanted));
				assert.equal(blocks.packets, cut >= 152 ? 2 : cut >= 112 ? 1 : 0);
			}
	});

test("lines of JSON, cut anywhere", () => {
	const text = new TextEncoder().encode('{"a": "ü"}\n\n{"b": 2}\n{"c": 3}');
	for (let size = 1; size <= text.length; size++) {
		const lines = new Lines(),
			values = [];
		for (let at = 0; at < text.length; at += size)
			values.push(...lines.add(text.subarray(at, at + size)));
		values.push(...lines.end());
		assert.deepEqual(values, [{ a: "ü" }, { b: 2 }, { c: 3 }]);
	}
});

test("events in words", () => {
	assert.match(
		words("graph", { diff: { nodes: { new: ["a"], removed: ["b", "c"], kept: ["d"] } } }),
		/new: a; removed: b, c$/
	);
	assert.equal(words("command", { node: "fwd", command: "add" }), "Command add of fwd was run.");
	assert.equal(words("stats", {}), null);
});
