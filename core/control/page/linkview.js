// SPDX-License-Identifier: BSD-3-Clause
// A link in the panel: what passes it, and a capture of it that downloads.

import * as api from "./api.js";
import { h, setText } from "./dom.js";
import { fieldset } from "./command.js";
import { Blocks } from "./pcapng.js";
import { Plot } from "./plot.js";
import { linkKey } from "./layout.js";
import { bytes, count, packetRate } from "./format.js";

const BYTES_MAX = 256 << 20; // that a browser's memory is asked to hold

const ARGUMENTS = [
	{
		name: "filter",
		fault: "pcap-filter expression",
		type: "text",
		range: "",
		help: "a pcap-filter expression, such as udp port 53; empty: all packets",
	},
	{ name: "count", type: "number", range: "", value: "1000", help: "packets, after which it ends" },
	{ name: "snaplen", type: "number", range: "", help: "bytes of each packet that are kept; empty: all" },
	{ name: "sample", type: "number", range: "", help: "one packet in so many; empty: each" },
];

const gate = (number, name) => (name ? `${number} (${name})` : String(number));

export class LinkView {
	// on: {node(name), trace(node)}
	constructor(root, link, history, on) {
		Object.assign(this, { root, link, on });
		this.rate = h("dd", {}, "–");
		this.total = h("dd", {}, "–");
		this.plot = new Plot(history, {
			keys: [`${link.from}\0out[${link.ogate}]`],
			labels: ["packets"],
			format: packetRate,
			label: `Packets a second from ${link.from} to ${link.to}, of the last five minutes`,
		});
		const end = (name) =>
			h("button", { type: "button", class: "link-button", onclick: () => on.node(name) }, name);
		root.replaceChildren(
			h("h2", { tabindex: -1, class: "subject" }, `${link.from} → ${link.to}`),
			h(
				"p",
				{ class: "about" },
				"From output gate ",
				gate(link.ogate, link.ogate_name),
				" of ",
				end(link.from),
				" to input gate ",
				gate(link.igate, link.igate_name),
				" of ",
				end(link.to),
				link.back ? ". It leads back: what passes waits for the next poll." : "."
			),
			h(
				"dl",
				{ class: "facts" },
				h("div", {}, h("dt", {}, "rate"), this.rate),
				h("div", {}, h("dt", {}, "passed"), this.total)
			),
			h("section", {}, this.plot.element),
			h("section", {}, h("h3", {}, "Capture"), this.capture()),
			h(
				"section",
				{},
				h("h3", {}, "Trace"),
				h(
					"button",
					{ type: "button", onclick: () => on.trace(link.to) },
					`Trace packets that come by ${link.to}`
				)
			)
		);
	}

	capture() {
		this.button = h("button", { class: "primary" }, "Capture");
		this.stop = h(
			"button",
			{ type: "button", hidden: true, onclick: () => this.abort?.abort() },
			"Stop and save"
		);
		this.progress = h("p", { class: "progress", role: "status" });
		this.set = fieldset("capture", ARGUMENTS);
		const [filter, ...numbers] = this.set.fields.map((one) => one.element);
		const form = h(
			"form",
			{ class: "command", "aria-label": "Capture", novalidate: true },
			filter,
			h("div", { class: "three" }, ...numbers),
			h("div", { class: "buttons" }, this.button, this.stop),
			this.set.others,
			this.progress
		);
		form.addEventListener("submit", (event) => {
			event.preventDefault();
			this.run(this.set.values());
		});
		return form;
	}

	async run(options) {
		const blocks = new Blocks();
		let failed = false;
		this.set.show([]);
		this.progress.textContent = "Waiting for packets…";
		this.abort = new AbortController();
		this.button.disabled = true;
		this.stop.hidden = false;
		try {
			const url = api.captureUrl(this.link.from, this.link.ogate, options);
			const response = await api.request(url, {
				signal: this.abort.signal,
				headers: { Accept: "application/x-pcapng, application/json" },
			});
			await api.chunks(response, (chunk) => this.take(blocks, chunk));
		} catch (error) {
			failed = error.name !== "AbortError";
			if (failed) this.set.show(error.errors ?? [{ message: error.message }]);
		}
		this.button.disabled = false;
		this.stop.hidden = true;
		this.save(blocks, failed);
	}

	take(blocks, chunk) {
		blocks.add(chunk);
		this.progress.textContent = `${count(blocks.packets)} packets, ${bytes(blocks.whole)}`;
		if (blocks.bytes > BYTES_MAX) this.abort.abort();
	}

	save(blocks, failed) {
		if (!blocks.packets) {
			this.progress.textContent = failed ? "" : "No packet was captured.";
			return;
		}
		const name = `${linkKey(this.link)
			.replace(/[^\w.-]+/g, "-")
			.replace(/-$/, "")}.pcapng`;
		const url = URL.createObjectURL(new Blob(blocks.parts(), { type: "application/x-pcapng" }));
		h("a", { href: url, download: name }).click();
		setTimeout(() => URL.revokeObjectURL(url), 60000);
		this.progress.textContent = `Saved ${count(blocks.packets)} packets, ${bytes(blocks.whole)}, as ${name}.`;
	}

	update(stats, reading) {
		const { from, ogate } = this.link;
		setText(this.rate, packetRate(reading.nodes.get(from)?.out[ogate]));
		setText(this.total, `${count(stats.nodes[from]?.out[ogate])} packets`);
		this.plot.update();
	}

	remove() {
		this.abort?.abort();
		this.plot.remove();
	}
}
