// SPDX-License-Identifier: BSD-3-Clause
// From node to node with the arrow keys: along the flow by links, across it by place. Pure.

const nearest = (boxes, names, from, axis) =>
	names.reduce((best, name) => {
		const far = (other) => Math.abs(boxes.get(other)[axis] - boxes.get(from)[axis]);
		return best === null || far(name) < far(best) ? name : best;
	}, null);

function across(boxes, from, sign, down) {
	const [along, side] = down ? ["y", "x"] : ["x", "y"];
	const here = boxes.get(from);
	let best = null,
		least = Infinity;
	for (const [name, box] of boxes) {
		const way = (box[side] - here[side]) * sign;
		if (name === from || way <= 1) continue;
		// What is in the same rank comes first; what is far along the flow, last.
		const cost = way + 4 * Math.abs(box[along] - here[along]);
		if (cost < least) [best, least] = [name, cost];
	}
	return best;
}

// direction: "next" and "previous" along the flow, "more" and "less" across it. null: none there.
export function step(layout, links, from, direction, lastFrom = null) {
	const { boxes, down } = layout;
	if (direction === "more" || direction === "less")
		return across(boxes, from, direction === "more" ? 1 : -1, down);
	const names = links
		.filter((link) => (direction === "next" ? link.from : link.to) === from)
		.map((link) => (direction === "next" ? link.to : link.from))
		.filter((name) => name !== from);
	// The way back is the way one came.
	if (names.includes(lastFrom)) return lastFrom;
	return nearest(boxes, names, from, down ? "x" : "y");
}

// The keys' directions: the flow goes right, or down.
export function keyDirection(key, down) {
	const keys = down
		? { ArrowDown: "next", ArrowUp: "previous", ArrowRight: "more", ArrowLeft: "less" }
		: { ArrowRight: "next", ArrowLeft: "previous", ArrowDown: "more", ArrowUp: "less" };
	return keys[key] ?? null;
}

// The first in the direction of reading, where a walk begins.
export function first(layout) {
	const [along, side] = layout.down ? ["y", "x"] : ["x", "y"];
	let best = null;
	for (const [name, box] of layout.boxes)
		if (
			best === null ||
			box[along] < layout.boxes.get(best)[along] - 1 ||
			(Math.abs(box[along] - layout.boxes.get(best)[along]) <= 1 &&
				box[side] < layout.boxes.get(best)[side])
		)
			best = name;
	return best;
}
