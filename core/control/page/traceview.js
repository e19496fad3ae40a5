// SPDX-License-Identifier: BSD-3-Clause
// Traces and explanations in the panel: packets, their ways, and a walk through the steps of one.

import * as api from "./api.js";
import { h } from "./dom.js";
import { fieldset } from "./command.js";
import { bodyOf } from "./forms.js";
import { Lines } from "./ndjson.js";
import { endWords, litOf, packetOf } from "./way.js";

const PACKETS_MAX = 200;

const TRACE = [
	{
		name: "filter",
		fault: "pcap-filter expression",
		type: "text",
		range: "",
		help: "a pcap-filter expression, such as tcp port 80; empty: all packets",
	},
	{ name: "n", type: "number", range: "", value: "10", help: "how many packets" },
	{
		name: "node",
		type: "node",
		range: "",
		suggest: "node-names",
		help: "those that come by it; empty: any",
	},
];
const EXPLAIN = [
	{
		name: "packet",
		type: "packet",
		range: "",
		value: "ether / ipv4 / udp dport=53",
		help: "in words or hexadecimal; it goes through the live tables on copies, and nothing else is touched",
	},
	{
		name: "node",
		type: "node",
		range: "",
		required: true,
		suggest: "node-names",
		help: "where it comes in",
	},
	{ name: "gate", type: "number", range: "", default: "0", help: "its input gate" },
];

export class TraceView {
	// on: {light(way or null), reveal(node)}
	constructor(root, on) {
		this.on = on;
		this.abort = null;
		this.ways = [];
		this.way = null;
		this.status = h("p", { class: "progress", role: "status" });
		this.packets = h("div", { class: "packets", role: "group", "aria-label": "Packets" });
		this.walk = h("div");
		root.append(
			h("h2", {}, "Trace packets that pass"),
			this.traceForm(),
			h("details", { class: "command-box" }, h("summary", {}, "Explain a packet"), this.explainForm()),
			this.status,
			this.packets,
			this.walk
		);
	}

	traceForm() {
		this.traced = fieldset("trace", TRACE);
		const [filter, ...others] = this.traced.fields.map((one) => one.element);
		this.start = h("button", { class: "primary" }, "Trace");
		this.stop = h("button", { type: "button", hidden: true, onclick: () => this.abort?.abort() }, "Stop");
		const form = h(
			"form",
			{ "aria-label": "Trace", novalidate: true },
			filter,
			h("div", { class: "pair" }, ...others),
			h("div", { class: "buttons" }, this.start, this.stop),
			this.traced.others
		);
		form.addEventListener("submit", (event) => {
			event.preventDefault();
			this.trace(bodyOf(TRACE, this.traced.values()));
		});
		return form;
	}

	explainForm() {
		this.explained = fieldset("explain", EXPLAIN);
		const [packet, ...others] = this.explained.fields.map((one) => one.element);
		const form = h(
			"form",
			{ class: "command", "aria-label": "Explain", novalidate: true },
			packet,
			h("div", { class: "pair" }, ...others),
			h("button", {}, "Explain"),
			this.explained.others
		);
		form.addEventListener("submit", (event) => {
			event.preventDefault();
			this.explain(bodyOf(EXPLAIN, this.explained.values()));
		});
		return form;
	}

	// For a node that somebody looks at.
	about(node) {
		for (const { fields } of [this.traced, this.explained])
			fields.find((one) => one.name === "node").input.value = node;
	}

	begin(words) {
		this.clear();
		this.ways = [];
		this.ending = null;
		this.packets.replaceChildren();
		this.traced.show([]);
		this.explained.show([]);
		this.status.textContent = words;
	}

	async trace(body) {
		this.begin("Waiting for packets…");
		this.abort = new AbortController();
		this.start.disabled = true;
		this.stop.hidden = false;
		let failed = false;
		try {
			const response = await api.trace(body, this.abort.signal);
			const lines = new Lines();
			await api.chunks(response, (chunk) => lines.add(chunk).forEach((line) => this.add(line)));
			lines.end().forEach((line) => this.add(line));
		} catch (error) {
			failed = error.name !== "AbortError";
			if (failed) this.traced.show(error.errors ?? [{ message: error.message }]);
		}
		this.abort = null;
		this.start.disabled = false;
		this.stop.hidden = true;
		this.status.textContent = failed ? "" : (this.ending ?? `${this.ways.length} packets.`);
	}

	async explain(body) {
		this.begin("");
		try {
			this.add(await api.explain(body));
		} catch (error) {
			this.explained.show(error.errors ?? [{ message: error.message }]);
		}
	}

	add(answer) {
		if (answer.end && !answer.ways) this.ending = endWords(answer.end);
		const packet = packetOf(answer);
		if (!packet || this.ways.length >= PACKETS_MAX) return;
		const i = this.ways.push(packet) - 1;
		this.packets.append(
			h(
				"button",
				{ type: "button", "aria-pressed": "false", onclick: () => this.show(i) },
				packet.title
			)
		);
		if (i === 0) this.show(0);
		if (this.abort) this.status.textContent = `${this.ways.length} so far…`;
	}

	show(i) {
		this.way = this.ways[i];
		for (const [k, button] of [...this.packets.children].entries())
			button.setAttribute("aria-pressed", String(k === i));
		this.steps = this.way.steps.map((step, k) =>
			h(
				"li",
				{ class: `depth-${Math.min(step.depth, 4)}` },
				h("button", { type: "button", class: "link-button", onclick: () => this.go(k) }, step.title),
				...step.lines.map((line) => h("p", {}, line)),
				step.drop ? h("p", { class: "drop" }, `✕ dropped: ${step.drop}`) : null,
				step.end ? h("p", { class: "end" }, step.end) : null
			)
		);
		const go = (by) => this.go(Math.min(Math.max(this.at + by, 0), this.steps.length - 1));
		this.walk.replaceChildren(
			h("h2", {}, "Its way"),
			h(
				"div",
				{ class: "buttons" },
				h("button", { type: "button", onclick: () => go(-1) }, "◂ Back"),
				h("button", { type: "button", onclick: () => go(1) }, "Next ▸"),
				h("button", { type: "button", onclick: () => this.clear() }, "Clear")
			),
			h("ol", { class: "steps" }, ...this.steps)
		);
		this.go(0);
	}

	go(at) {
		this.at = at;
		for (const [k, step] of this.steps.entries())
			if (k === at) {
				step.setAttribute("aria-current", "step");
				step.scrollIntoView({ block: "nearest" });
			} else step.removeAttribute("aria-current");
		this.relight();
		if (this.way.steps[at]) this.on.reveal(this.way.steps[at].node);
	}

	// The drawing may be a new one.
	relight() {
		if (this.way) this.on.light(litOf(this.way, this.at));
	}

	clear() {
		this.way = null;
		this.walk.replaceChildren();
		for (const button of this.packets.children) button.setAttribute("aria-pressed", "false");
		this.on.light(null);
	}
}
