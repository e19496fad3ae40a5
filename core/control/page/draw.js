// SPDX-License-Identifier: BSD-3-Clause
// The graph as SVG: built anew when the graph changes, and then touched only where numbers change.

import { s, setAttribute, setText } from "./dom.js";
import { ARROW, contentHeight, heatStep, linkKey, linkWidth } from "./layout.js";
import { count, packetRate, percent, reasons } from "./format.js";

const LABELS_MAX = 24; // gates of one side that are labelled

function shorten(text, width, letter) {
	const most = Math.max(Math.floor(width / letter), 4);
	return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}

export class Drawing {
	// on: {node(name), link(key)}: something was chosen.
	constructor(scene, on) {
		this.scene = scene;
		this.on = on;
		this.nodes = new Map();
		this.links = new Map();
		this.layout = null;
	}

	show(layout, nodes, links) {
		this.layout = layout;
		this.nodes.clear();
		this.links.clear();
		const used = new Set(links.map((link) => `o${linkKey(link)}`));
		const entered = new Set(links.map((link) => `${link.to}[${link.igate}]`));
		const under = s("g", { class: "links" });
		const over = s("g", { class: "nodes" });
		for (const link of links) under.append(this.link(link));
		for (const node of nodes) over.append(this.node(node, { used, entered }));
		this.scene.replaceChildren(under, over);
	}

	link(link) {
		const key = linkKey(link);
		const { d, middle, to } = this.layout.paths.get(key);
		const line = s("path", { class: "line", d });
		const arrow = s("path", { class: "arrow" });
		const label = s(
			"text",
			this.layout.down
				? { class: "link-rate beside", x: middle.x + 8, y: middle.y + 4 }
				: { class: "link-rate", x: middle.x, y: middle.y - 8 }
		);
		const title = s("title");
		const group = s(
			"g",
			{ class: link.back ? "link back" : "link", "data-link": key, onclick: () => this.on.link(key) },
			title,
			s("path", { class: "hit", d }),
			line,
			arrow,
			label
		);
		this.links.set(key, { link, group, line, arrow, label, title, to });
		return group;
	}

	node(node, gates) {
		const box = this.layout.boxes.get(node.name);
		const { down } = this.layout;
		const content = contentHeight(node, down);
		const left = -box.width / 2 + 10,
			right = box.width / 2 - 10,
			top = -content / 2;
		const meter = right - left;
		const parts = {
			name: s("text", { class: "name", x: left, y: top + 18 }, shorten(node.name, meter - 54, 7.4)),
			share: s("text", { class: "share", x: right, y: top + 18 }),
			module: s(
				"text",
				{ class: "module", x: left, y: top + 34 },
				shorten(node.module, meter - 70, 6.4)
			),
			rate: s("text", { class: "rate", x: right, y: top + 34 }),
			heat: s("rect", { class: "meter", x: left, y: top + 42, height: 4, width: 0 }),
			drop: s("text", {
				class: down ? "drop inside" : "drop",
				x: down ? left : left - 4,
				y: down ? top + content - 9 : box.height / 2 + 14,
			}),
		};
		// What stands in it is told by its label, in better words.
		const inner = s(
			"g",
			{ "aria-hidden": "true" },
			s("rect", {
				class: "focus-ring",
				x: -box.width / 2 - 4,
				y: -box.height / 2 - 4,
				width: box.width + 8,
				height: box.height + 8,
				rx: 7,
			}),
			s("rect", {
				class: "box",
				x: -box.width / 2,
				y: -box.height / 2,
				width: box.width,
				height: box.height,
				rx: 4,
			}),
			parts.name,
			parts.share,
			parts.module,
			parts.rate,
			s("rect", { class: "meter-ground", x: left, y: top + 42, height: 4, width: meter }),
			parts.heat
		);
		if (node.room) {
			parts.held = s("text", { class: "held", x: left, y: top + 63 });
			parts.fill = s("rect", { class: "fill", x: right - 60, y: top + 55, height: 8, width: 0 });
			inner.append(
				parts.held,
				parts.fill,
				s("rect", { class: "fill-frame", x: right - 60, y: top + 55, height: 8, width: 60 })
			);
		}
		if (down)
			inner.append(
				s("rect", {
					class: "drop-ground",
					x: -box.width / 2 + 1,
					y: top + content - 23,
					width: box.width - 2,
					height: 22,
				})
			);
		inner.append(parts.drop, this.gates(node, box, gates, false), this.gates(node, box, gates, true));
		const group = s(
			"g",
			{
				class: "node",
				role: "button",
				tabindex: -1,
				"data-node": node.name,
				transform: `translate(${box.x} ${box.y})`,
				onclick: () => this.on.node(node.name),
			},
			inner
		);
		this.nodes.set(node.name, { node, group, meter, ...parts });
		return group;
	}

	gates(node, box, { used, entered }, output) {
		const group = s("g", { class: output ? "gates out" : "gates in" });
		const points = output ? box.out : box.in;
		for (const [i, point] of points.entries()) {
			const id = `${node.name}[${i}]`;
			const free = !(output ? used.has(`o${id}`) : entered.has(id));
			const x = point.x - box.x,
				y = point.y - box.y;
			const name = (output ? node.onames : node.inames)?.[i];
			group.append(s("circle", { class: free ? "gate free" : "gate", cx: x, cy: y, r: 3 }));
			if ((points.length > 1 || name) && points.length <= LABELS_MAX)
				group.append(
					s("text", { class: "gate-name", ...this.gatePlace(x, y, output) }, name ?? String(i))
				);
		}
		return group;
	}

	gatePlace(x, y, output) {
		if (this.layout.down) return { x: x + 5, y: output ? y + 12 : y - 7, "text-anchor": "start" };
		return { x: output ? x + 6 : x - ARROW - 2, y: y - 3, "text-anchor": output ? "start" : "end" };
	}

	// Only what is in sight is touched: shows(box) says so.
	update(reading, shows) {
		const { boxes } = this.layout;
		for (const [name, parts] of this.nodes) {
			const now = reading.nodes.get(name);
			if (now && shows(boxes.get(name))) this.updateNode(name, parts, now);
		}
		for (const parts of this.links.values()) {
			const { link } = parts;
			if (shows(boxes.get(link.from)) || shows(boxes.get(link.to)))
				this.updateLink(parts, reading.nodes.get(link.from)?.out[link.ogate]);
		}
	}

	updateNode(name, parts, now) {
		const packets = Number.isNaN(now.packets) ? null : now.packets;
		setText(parts.rate, packetRate(packets));
		setText(parts.share, percent(now.share));
		setAttribute(parts.heat, "width", String(Math.round(parts.meter * (now.share || 0))));
		setAttribute(parts.group, "data-heat", String(heatStep(now.share)));
		const drops = reasons(now.drops, this.layout.down ? 1 : 2);
		setText(parts.drop, drops && `✕ ${drops}`);
		parts.group.classList.toggle("dropping", Boolean(drops));
		let words = `${name}, ${now.module}, ${packetRate(packets)}, ${percent(now.share)} of cycles`;
		if (drops) words += `, drops: ${reasons(now.drops, 9)}`;
		if (parts.fill) {
			const level = Math.min(now.held / now.room || 0, 1);
			setAttribute(parts.fill, "width", String(Math.round(60 * level)));
			setText(parts.held, `held ${count(now.held)}`);
			parts.group.classList.toggle("full", level > 0.75);
			words += `, holds ${count(now.held)} of ${count(now.room)}`;
		}
		setAttribute(parts.group, "aria-label", words);
	}

	updateLink(parts, packets) {
		const width = linkWidth(packets);
		const half = Math.max(width / 2 + 2.5, 4);
		const { to, link } = parts;
		setAttribute(parts.line, "stroke-width", width.toFixed(1));
		setAttribute(
			parts.arrow,
			"d",
			this.layout.down
				? `M${to.x} ${to.y + ARROW}l${-half} ${-ARROW}h${2 * half}z`
				: `M${to.x + ARROW} ${to.y}l${-ARROW} ${-half}v${2 * half}z`
		);
		parts.group.classList.toggle("idle", !(packets > 0));
		setText(parts.label, packets > 0 ? packetRate(packets) : "");
		setText(parts.title, `${linkKey(link)} → [${link.igate}]${link.to}: ${packetRate(packets)}`);
	}

	// One tab stop for all nodes: the one that a walk has come to.
	setStop(name) {
		for (const [other, { group }] of this.nodes)
			setAttribute(group, "tabindex", other === name ? "0" : "-1");
	}

	select(selected) {
		for (const [name, { group }] of this.nodes) {
			const is = selected?.kind === "node" && selected.name === name;
			group.classList.toggle("selected", is);
			setAttribute(group, "aria-pressed", String(is));
		}
		for (const [key, { group }] of this.links)
			group.classList.toggle("selected", selected?.kind === "link" && selected.key === key);
	}

	// A packet's way: all of it, and where it is now. Null: none.
	light(way) {
		this.scene.classList.toggle("lit-mode", Boolean(way));
		for (const [name, { group }] of this.nodes) {
			group.classList.toggle("lit", Boolean(way?.nodes.has(name)));
			group.classList.toggle("here", way?.here === name);
		}
		for (const [key, { group }] of this.links)
			group.classList.toggle("lit", Boolean(way?.links.has(key)));
	}
}
