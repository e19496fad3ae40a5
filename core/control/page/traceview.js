// SPDX-License-Identifier: BSD-3-Clause
// Traces and explanations in the panel: packets, their ways, and a walk through the steps of one.

import * as api from "./api.js";
import { h } from "./dom.js";
import { Lines } from "./ndjson.js";
import { litOf, waysOf } from "./way.js";

const PACKETS_MAX = 200;

function field(id, label, hint, input) {
	return h("div", { class: "field" }, h("label", { for: id }, label), input, h("p", { class: "hint", id: `${id}-hint` }, hint));
}

const text = (id, attributes = {}) =>
	h("input", { id, type: "text", autocomplete: "off", spellcheck: "false", "aria-describedby": `${id}-hint`, ...attributes });

export class TraceView {
	// on: {light(way or null), reveal(node), links()}
	constructor(root, on) {
		this.on = on;
		this.abort = null;
		this.ways = [];
		this.fault = h("p", { class: "fault", role: "alert" });
		this.status = h("p", { class: "progress", role: "status" });
		this.packets = h("div", { class: "packets", role: "group", "aria-label": "Packets" });
		this.walk = h("div");
		root.append(h("h2", {}, "Trace packets that pass"), this.traceForm(),
			h("h2", {}, "Explain a packet"), this.explainForm(),
			this.fault, this.status, this.packets, this.walk);
	}

	traceForm() {
		this.node = text("trace-node", { list: "node-names" });
		this.n = text("trace-n", { value: "10", inputmode: "numeric" });
		this.filter = text("trace-filter");
		this.start = h("button", { class: "primary" }, "Trace");
		this.stop = h("button", { type: "button", hidden: true, onclick: () => this.abort?.abort() }, "Stop");
		const form = h("form", { "aria-label": "Trace", novalidate: true },
			field("trace-filter", "filter", "a pcap-filter expression, such as tcp port 80; empty: all packets", this.filter),
			h("div", { class: "pair" }, field("trace-n", "packets", "how many", this.n),
				field("trace-node", "node", "those that come by it; empty: any", this.node)),
			h("div", { class: "buttons" }, this.start, this.stop));
		form.addEventListener("submit", (event) => {
			event.preventDefault();
			this.trace();
		});
		return form;
	}

	explainForm() {
		const node = text("explain-node", { list: "node-names" });
		const gate = text("explain-gate", { value: "0", inputmode: "numeric" });
		const packet = h("textarea", { id: "explain-packet", rows: 2, spellcheck: "false", "aria-describedby": "explain-packet-hint" });
		packet.value = "ether / ipv4 / udp dport=53";
		const form = h("form", { "aria-label": "Explain", novalidate: true },
			field("explain-packet", "packet", "in words or hexadecimal; it goes through the live tables on copies, nothing else is touched", packet),
			h("div", { class: "pair" }, field("explain-node", "node", "where it enters", node), field("explain-gate", "input gate", "a number", gate)),
			h("button", {}, "Explain"));
		form.addEventListener("submit", (event) => {
			event.preventDefault();
			this.explain({ node: node.value.trim(), gate: Number(gate.value) || 0, packet: packet.value.trim() });
		});
		this.explainNode = node;
		return form;
	}

	// For a node that somebody looks at.
	about(node) {
		this.node.value = node;
		this.explainNode.value = node;
	}

	begin(words) {
		this.ways = [];
		this.packets.replaceChildren();
		this.walk.replaceChildren();
		this.fault.textContent = "";
		this.status.textContent = words;
		this.on.light(null);
	}

	async trace() {
		this.begin("Waiting for packets…");
		this.abort = new AbortController();
		this.start.disabled = true;
		this.stop.hidden = false;
		const n = Number(this.n.value);
		const what = { n: Number.isInteger(n) && n > 0 ? n : this.n.value };
		if (this.filter.value.trim())
			what.filter = this.filter.value.trim();
		if (this.node.value.trim())
			what.node = this.node.value.trim();
		try {
			const response = await api.trace(what, this.abort.signal);
			const lines = new Lines();
			await api.chunks(response, (chunk) => lines.add(chunk).forEach((line) => this.add(line)));
			lines.end().forEach((line) => this.add(line));
		} catch (error) {
			if (error.name !== "AbortError")
				this.fault.textContent = `✕ ${error.message}`;
		}
		this.start.disabled = false;
		this.stop.hidden = true;
		const failed = this.fault.textContent;
		this.status.textContent = failed ? "" : this.ways.length ? `${this.ways.length} ways.` : "No packet came by.";
	}

	async explain(what) {
		this.begin("");
		try {
			this.add(await api.explain(what));
		} catch (error) {
			this.fault.textContent = `✕ ${error.message}`;
		}
	}

	add(answer) {
		for (const way of waysOf(answer)) {
			if (this.ways.length >= PACKETS_MAX)
				return;
			const i = this.ways.push(way) - 1;
			this.packets.append(h("button", { type: "button", "aria-pressed": "false", onclick: () => this.show(i) }, way.title));
			if (i === 0)
				this.show(0);
		}
		if (this.abort)
			this.status.textContent = `${this.ways.length} ways so far…`;
	}

	show(i) {
		this.way = this.ways[i];
		for (const [k, button] of [...this.packets.children].entries())
			button.setAttribute("aria-pressed", String(k === i));
		this.steps = this.way.steps.map((step, k) => h("li", {},
			h("button", { type: "button", class: "link-button", onclick: () => this.go(k) }, step.title),
			...step.lines.map((line) => h("p", {}, line)),
			step.drop ? h("p", { class: "drop" }, `✕ dropped: ${step.drop}`) : null));
		const go = (by) => this.go(Math.min(Math.max(this.at + by, 0), this.steps.length - 1));
		this.walk.replaceChildren(h("h2", {}, "Its way"), h("div", { class: "buttons" },
			h("button", { type: "button", onclick: () => go(-1) }, "◂ Back"),
			h("button", { type: "button", onclick: () => go(1) }, "Next ▸"),
			h("button", { type: "button", onclick: () => this.clear() }, "Clear")),
		h("ol", { class: "steps" }, ...this.steps));
		this.go(0);
	}

	go(at) {
		this.at = at;
		for (const [k, step] of this.steps.entries())
			if (k === at)
				step.setAttribute("aria-current", "step");
			else
				step.removeAttribute("aria-current");
		this.relight();
		if (this.way.steps[at])
			this.on.reveal(this.way.steps[at].node);
	}

	// The drawing may be a new one.
	relight() {
		if (this.way)
			this.on.light(litOf(this.way, this.at, this.on.links()));
	}

	clear() {
		this.way = null;
		this.walk.replaceChildren();
		for (const button of this.packets.children)
			button.setAttribute("aria-pressed", "false");
		this.on.light(null);
	}
}
