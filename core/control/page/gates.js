// SPDX-License-Identifier: BSD-3-Clause
// Nodes with their gates, from counters and links. Pure.

// As layout and drawing take them: the names of gates are those that links tell, null for others.
export function nodesOf(stats, links) {
	const nodes = new Map(
		Object.entries(stats).map(([name, node]) => [
			name,
			{
				name,
				module: node.module,
				igates: node.in.length,
				ogates: node.out.length,
				room: node.room ?? 0,
				inames: new Array(node.in.length).fill(null),
				onames: new Array(node.out.length).fill(null),
			},
		])
	);
	for (const link of links) {
		const from = nodes.get(link.from),
			to = nodes.get(link.to);
		if (from && link.ogate_name) from.onames[link.ogate] = link.ogate_name;
		if (to && link.igate_name) to.inames[link.igate] = link.igate_name;
	}
	return [...nodes.values()];
}

// Where some gates have names, those without a link have one too, which links do not tell.
export function partlyNamed({ inames, onames }) {
	return [inames, onames].some((names) => names.some(Boolean) && !names.every(Boolean));
}
