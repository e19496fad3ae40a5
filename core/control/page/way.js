// SPDX-License-Identifier: BSD-3-Clause
// A traced packet as steps that can be walked through: its own way, and below the node that made
// them those of its copies. Pure; the form of what comes is told in docs/trace.md.

import { shortTime } from "./format.js";

const gate = (number, name) => (number === undefined ? "" : name ? `[${name}]` : number ? `[${number}]` : "");

const ENDS = { sent: (end) => `sent by port ${end.port}`, consumed: () => "consumed" };

function endText(end) {
	if (end.what === "dropped") return { drop: `${end.reason}${end.help ? ` (${end.help})` : ""}` };
	return {
		end: ENDS[end.what]?.(end) ?? [end.what.replace("_", " "), end.help].filter(Boolean).join(": "),
	};
}

function stepView(step, depth) {
	const lines = [];
	const numbers = [];
	if (step.cycles !== undefined) numbers.push(`${step.cycles} cycles`);
	if (step.worker !== undefined) numbers.push(`worker ${step.worker}`);
	if (step.held_ns) numbers.push(`held for ${shortTime(step.held_ns)}`);
	if (numbers.length) lines.push(numbers.join(", "));
	return {
		node: step.node,
		out: step.out,
		depth,
		title: `${gate(step.in, step.in_name)}${step.node}${gate(step.out, step.out_name)} (${step.type})`,
		lines: [...lines, ...(step.changed ?? [])],
	};
}

// Ways refer to earlier ones alone, so this comes to an end.
function flatten(ways, index, depth) {
	const way = ways[index];
	const list = [];
	for (const [i, step] of way.steps.entries()) {
		list.push(stepView(step, depth));
		for (const [k, copy] of ways.entries())
			if (k > index && copy.from === index && copy.step === i)
				list.push(...copySteps(ways, k, depth + 1, step.node));
	}
	if (list.length && way.end)
		Object.assign(
			list.findLast((step) => step.depth === depth),
			endText(way.end)
		);
	return list;
}

// The copy's first step tells where it came from; one that went nowhere ends where it was made.
function copySteps(ways, index, depth, maker) {
	const { out, out_name: name, end } = ways[index];
	const list = flatten(ways, index, depth);
	const from = `a copy by [${name ?? out}] of ${maker}`;
	if (!list.length)
		return [
			{ node: maker, out, depth, title: from, lines: [], ...endText(end ?? { what: "unfinished" }) },
		];
	list[0].lines.unshift(from);
	list[0].entered = { node: maker, out };
	return list;
}

// One line of /trace, or the answer of /explain: {title, steps}; null for what is no packet.
export function packetOf(answer) {
	if (!answer.ways?.length) return null;
	const title = answer.frame ? `${answer.frame}, ${answer.length} bytes` : `${answer.count ?? 1} packets`;
	return { title, steps: flatten(answer.ways, 0, 0) };
}

// What is lit at step `at`: all its nodes and links, and the node where it is.
export function litOf(packet, at) {
	const nodes = new Set(),
		links = new Set();
	for (const { node, out, entered } of packet.steps) {
		nodes.add(node);
		if (out !== undefined) links.add(`${node}[${out}]`);
		if (entered) links.add(`${entered.node}[${entered.out}]`);
	}
	return { nodes, links, here: packet.steps[at]?.node ?? null };
}

// The last line of a trace in words.
export function endWords({ why, packets, asked, events_lost: lost }) {
	const words =
		`${packets} of ${asked} packets` +
		({ timeout: "; the time was over", stopped: "; the run stopped" }[why] ?? "");
	return `${words}.${lost ? ` ${lost} events were lost.` : ""}`;
}
