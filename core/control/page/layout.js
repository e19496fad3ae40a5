// SPDX-License-Identifier: BSD-3-Clause
// Where nodes, gates and links are drawn: dagre finds ranks and places, what it does not know of
// (gates) is added here. Pure: dagre is handed in.

const TITLE = 7.4; // width of a letter of a name
const TEXT = 6.4;
const PITCH = 15; // between two gates
const PITCH_MANY = 7;
const TAG = 18; // below a node, where its drops are told

export const ARROW = 8; // a link's line ends so far before the gate that it enters

export const linkKey = (link) => `${link.from}[${link.ogate}]`;

// Of what is written in a node. Where links leave downwards its drops are told inside, else below.
export function contentHeight(node, down) {
	return (node.room ? 70 : 56) + (down ? TAG - 2 : 0);
}

// The room that a node takes. `across` is the way along which its gates stand.
export function nodeSize(node, down) {
	const gates = Math.max(node.igates, node.ogates);
	const named = Math.max(
		0,
		...[...(node.inames ?? []), ...(node.onames ?? [])].map((name) => name?.length ?? 0)
	);
	const pitch = gates > 12 ? PITCH_MANY : down && named ? Math.max(PITCH, named * TEXT + 8) : PITCH;
	const letters = Math.max(node.name.length * TITLE + 54, (node.module.length + 12) * TEXT);
	const width = Math.min(Math.max(letters + 28, down ? 190 : 150), 260);
	const height = contentHeight(node, down);
	return down
		? { width: Math.max(width, gates * pitch + 12), height, pitch }
		: { width, height: Math.max(height, gates * pitch + 12), pitch };
}

// Where gate i of n is on its side, from the middle.
export function gateOffset(i, n, pitch) {
	return (i - (n - 1) / 2) * pitch;
}

function gatePoints(box, n, output, down) {
	return Array.from({ length: n }, (_, i) => {
		const offset = gateOffset(i, n, box.pitch);
		const side = output ? 1 : -1;
		return down
			? { x: box.x + offset, y: box.y + (side * box.height) / 2 }
			: { x: box.x + (side * box.width) / 2, y: box.y + offset };
	});
}

// A line that leaves and enters along the flow, through the points between.
export function curve(points, down) {
	const [first, ...rest] = points;
	let text = `M${round(first.x)} ${round(first.y)}`;
	let from = first;
	for (const to of rest) {
		const way = down ? to.y - from.y : to.x - from.x;
		const bend = way > 0 ? Math.max(way / 2, 8) : Math.min(Math.max(-way / 2, 30), 80);
		const a = down ? [from.x, from.y + bend] : [from.x + bend, from.y];
		const b = down ? [to.x, to.y - bend] : [to.x - bend, to.y];
		text +=
			`C${round(a[0])} ${round(a[1])} ${round(b[0])} ${round(b[1])} ` + `${round(to.x)} ${round(to.y)}`;
		from = to;
	}
	return text;
}

const round = (n) => Math.round(n * 10) / 10;

// A link that goes back is led around below (or beside) all that stands between its ends.
function aroundBack(from, to, boxes, down) {
	const [low, high] = down ? [to.y, from.y] : [to.x, from.x];
	const far = [...boxes.values()]
		.filter((box) => (down ? box.y : box.x) >= low && (down ? box.y : box.x) <= high)
		.map((box) => (down ? box.x + box.width / 2 : box.y + box.height / 2));
	const out = Math.max(down ? to.x : to.y, down ? from.x : from.y, ...far);
	const edge = out + TAG + 14;
	const gap = 22;
	return down
		? `M${from.x} ${from.y}C${from.x} ${from.y + gap} ${edge} ${from.y + gap} ${edge} ${from.y}` +
				`L${edge} ${to.y}C${edge} ${to.y - gap} ${to.x} ${to.y - gap} ${to.x} ${to.y}`
		: `M${from.x} ${from.y}C${from.x + gap} ${from.y} ${from.x + gap} ${edge} ${from.x} ${edge}` +
				`L${to.x} ${edge}C${to.x - gap} ${edge} ${to.x - gap} ${to.y} ${to.x} ${to.y}`;
}

// Nodes that are reached by one link alone stand in the order of the gates that lead to them, so that
// these links do not cross.
function inOrder(links) {
	const into = new Map();
	for (const { to } of links) into.set(to, (into.get(to) ?? 0) + 1);
	const last = new Map();
	const pairs = [];
	for (const { from, to } of [...links].sort((a, b) => a.ogate - b.ogate)) {
		if (into.get(to) > 1 || from === to) continue;
		if (last.has(from)) pairs.push({ left: last.get(from), right: to });
		last.set(from, to);
	}
	return pairs;
}

// nodes: [{name, module, igates, ogates, inames, onames, room}], links: [{from, ogate, to, igate, back}].
// Gives boxes by name (x and y are the middle), links by key, and the whole's size.
export function arrange(dagre, nodes, links, down) {
	const graph = new dagre.Graph({ multigraph: true });
	const tag = down ? 0 : TAG;
	graph.setGraph({
		rankdir: down ? "TB" : "LR",
		nodesep: 22,
		edgesep: 12,
		ranksep: down ? 54 : 92,
		marginx: 24,
		marginy: 24,
		ranker: nodes.length > 100 ? "longest-path" : "network-simplex",
	});
	graph.setDefaultEdgeLabel(() => ({}));
	for (const node of nodes) {
		const size = nodeSize(node, down);
		graph.setNode(node.name, { ...size, height: size.height + tag, own: size });
	}
	for (const link of links)
		if (!link.back && link.from !== link.to) graph.setEdge(link.from, link.to, {}, linkKey(link));
	dagre.layout(graph, { constraints: inOrder(links) });
	const boxes = new Map();
	for (const node of nodes) {
		const at = graph.node(node.name);
		const box = { x: at.x, y: at.y - tag / 2, ...at.own };
		box.in = gatePoints(box, node.igates, false, down);
		box.out = gatePoints(box, node.ogates, true, down);
		boxes.set(node.name, box);
	}
	const paths = new Map();
	for (const link of links) paths.set(linkKey(link), route(graph, boxes, link, down));
	const { width, height } = graph.graph();
	return { boxes, paths, width, height: height + tag, down };
}

function route(graph, boxes, link, down) {
	const from = boxes.get(link.from).out[link.ogate];
	const end = boxes.get(link.to).in[link.igate];
	const to = down ? { x: end.x, y: end.y - ARROW } : { x: end.x - ARROW, y: end.y };
	if (link.back || link.from === link.to)
		return {
			from,
			to,
			middle: { x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 },
			d: aroundBack(from, to, boxes, down),
		};
	// dagre's first and last points lie on the boxes; gates are where we put them.
	const between = graph.edge(link.from, link.to, linkKey(link)).points.slice(1, -1);
	const inner = between.length > 1 ? between : [];
	const points = [from, ...inner, to];
	const i = Math.floor((points.length - 1) / 2);
	const middle = { x: (points[i].x + points[i + 1].x) / 2, y: (points[i].y + points[i + 1].y) / 2 };
	return { from, to, middle, d: curve(points, down) };
}

// Wide as the logarithm of the rate: 1 is one packet a second, 10 a hundred million.
export function linkWidth(packets) {
	return packets > 0 ? Math.min(1.5 + Math.log10(1 + packets), 10) : 1;
}

// Eight steps of heat; most nodes take a few percent, so the steps are finer there.
const HEAT = [0.005, 0.02, 0.05, 0.1, 0.2, 0.35, 0.55];
export function heatStep(share) {
	return share > 0 ? HEAT.filter((limit) => share >= limit).length : 0;
}
