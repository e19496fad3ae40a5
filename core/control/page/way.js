// SPDX-License-Identifier: BSD-3-Clause
// A traced packet as steps that can be walked through. Pure.

// One line of /trace, or the answer of /explain, as lists of steps:
// {node, igate, ogate, to, text, changed, cycles, drop}.
export function waysOf(answer) {
	const ways = answer.ways ?? (answer.steps ? [answer] : []);
	return ways.map((way) => ({ title: titleOf(answer, way), steps: way.steps ?? [] }));
}

const titleOf = (answer, way) => way.packet ?? answer.summary ?? `packet ${answer.packet ?? ""}`;

// What is lit at step `at` of a way: all its nodes and links, and the node where it is.
export function litOf(way, at, links) {
	const nodes = new Set(way.steps.map((step) => step.node));
	const lit = new Set();
	for (const step of way.steps)
		if (step.ogate !== undefined && step.ogate !== null &&
		    links.some((link) => link.from === step.node && link.ogate === step.ogate))
			lit.add(`${step.node}[${step.ogate}]`);
	return { nodes, links: lit, here: way.steps[at]?.node ?? null };
}
