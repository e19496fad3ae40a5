// SPDX-License-Identifier: BSD-3-Clause
// The graph's half of the page: layout, drawing, view and keyboard, put together.

import * as dagre from "./vendor/dagre.esm.js";
import { byId, h } from "./dom.js";
import { Drawing } from "./draw.js";
import { arrange } from "./layout.js";
import { View } from "./view.js";
import { first, keyDirection, step } from "./walk.js";

const TRIED_MAX = 60; // nodes of a graph that is laid out both ways, to see which fits better
const PAN = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] };

export class GraphView {
	// on: {node(name, byKey), link(key), none()}
	constructor(on) {
		this.on = on;
		this.svg = byId("canvas");
		this.view = new View(this.svg, byId("scene"), () => this.moved());
		this.drawing = new Drawing(byId("scene"), {
			node: (name) => this.choose(name, false),
			link: on.link,
		});
		this.nodes = [];
		this.links = [];
		this.down = null; // as the room asks for, until somebody turns it
		this.layout = null;
		this.at = null; // the node where a walk by keys is
		this.from = null; // where it was before
		this.listen();
	}

	listen() {
		byId("zoom-in").addEventListener("click", () => this.view.zoomBy(1.25));
		byId("zoom-out").addEventListener("click", () => this.view.zoomBy(0.8));
		byId("fit").addEventListener("click", () => this.fit());
		byId("turn").addEventListener("click", () => this.turn());
		this.svg.addEventListener("keydown", (event) => this.key(event));
		this.svg.addEventListener("click", (event) => {
			if (event.target === this.svg) this.on.none();
		});
		this.svg.addEventListener("focusin", (event) => {
			const name = event.target.dataset?.node;
			if (name) this.stand(name);
		});
		byId("find").addEventListener("change", (event) => this.find(event.target));
		new ResizeObserver(() => this.resized()).observe(this.svg);
	}

	choose(name, byKey) {
		this.stand(name);
		this.on.node(name, byKey);
	}

	find(input) {
		const wanted = input.value.trim();
		const exact = this.layout?.boxes.has(wanted) ? wanted : null;
		const near = exact ?? this.nodes.find(({ name }) => wanted && name.includes(wanted))?.name;
		input.setAttribute("aria-invalid", String(Boolean(wanted) && !near));
		if (!near) return;
		input.value = "";
		if (this.view.zoom < 0.55) this.view.zoomBy(0.8 / this.view.zoom);
		this.focus(near);
		this.choose(near, false);
	}

	// What comes into sight is brought up to date, once a frame.
	moved() {
		this.frame ??= requestAnimationFrame(() => {
			this.frame = null;
			if (this.reading) this.update(this.reading);
		});
	}

	resized() {
		const { width, height } = this.svg.getBoundingClientRect();
		this.view.room = { width, height };
		this.moved();
		if (this.layout && !this.view.touched) this.fit({ readable: true });
	}

	// To the right or down: where more of it can be seen, unless somebody has turned it.
	arrange() {
		const { width, height } = this.svg.getBoundingClientRect();
		const way = (down) => arrange(dagre, this.nodes, this.links, down);
		const zoom = (layout) => Math.min(width / layout.width, height / layout.height, 1);
		if (this.down !== null) return way(this.down);
		if (this.nodes.length > TRIED_MAX) return way(width < height);
		const right = way(false),
			down = way(true);
		return zoom(down) > 1.2 * zoom(right) ? down : right;
	}

	turn() {
		this.down = !this.layout?.down;
		this.draw();
		this.fit({ readable: true });
	}

	fit(how) {
		if (this.layout) this.view.fit(this.layout, how);
	}

	// A graph, the first or another one: what was in sight stays so.
	show(nodes, links) {
		const before = this.layout;
		this.nodes = nodes;
		this.links = links;
		byId("node-names").replaceChildren(...nodes.map(({ name }) => h("option", { value: name })));
		byId("empty").hidden = nodes.length > 0;
		byId("empty").textContent = "The graph has no nodes.";
		this.draw();
		if (!before || !this.view.touched) this.fit({ readable: true });
	}

	draw() {
		const focused = document.activeElement?.closest?.("#canvas [data-node]")?.dataset.node;
		this.layout = this.arrange();
		this.drawing.show(this.layout, this.nodes, this.links);
		if (!this.layout.boxes.has(this.at)) this.at = first(this.layout);
		this.drawing.setStop(this.at);
		if (this.reading) this.update(this.reading);
		this.drawing.select(this.selected);
		if (focused) this.focus(this.layout.boxes.has(focused) ? focused : this.at);
	}

	update(reading) {
		this.reading = reading;
		this.drawing.update(reading, (box) => this.view.shows(box));
	}

	select(selected) {
		this.selected = selected;
		this.drawing.select(selected);
	}

	reveal(name) {
		const box = this.layout?.boxes.get(name);
		if (box) this.view.reveal(box);
	}

	stand(name) {
		if (this.at !== name) this.from = this.at;
		this.at = name;
		this.drawing.setStop(name);
	}

	focus(name = this.at) {
		const group = this.drawing.nodes.get(name)?.group;
		if (!group) return;
		this.stand(name);
		this.reveal(name);
		group.focus({ preventScroll: true });
	}

	key(event) {
		if (event.ctrlKey || event.altKey || event.metaKey || !this.layout) return;
		const direction = keyDirection(event.key, this.layout.down);
		if (event.shiftKey && PAN[event.key]) this.view.pan(...PAN[event.key]);
		else if (direction)
			this.focus(step(this.layout, this.links, this.at, direction, this.from) ?? this.at);
		else if (event.key === "Home") this.focus(first(this.layout));
		else if (event.key === "End")
			this.focus(
				[...this.layout.boxes].reduce((a, b) => (b[1].x + b[1].y > a[1].x + a[1].y ? b : a))[0]
			);
		else if (event.key === "Enter" || event.key === " ") this.choose(this.at, true);
		else if (event.key === "Escape") this.on.none();
		else return;
		event.preventDefault();
		event.stopPropagation();
	}
}
