// SPDX-License-Identifier: BSD-3-Clause
// A link in the panel: what passes it, and a capture of it that downloads.

import * as api from "./api.js";
import { h, setText } from "./dom.js";
import { CaptureForm } from "./captureform.js";
import { Plot } from "./plot.js";
import { linkKey } from "./layout.js";
import { count, packetRate } from "./format.js";

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
		this.capture = new CaptureForm(
			(options) => api.captureUrl("nodes", link.from, { gate: link.ogate, ...options }),
			linkKey(link)
		);
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
			h("section", {}, h("h3", {}, "Capture"), this.capture.element),
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

	update(stats, reading) {
		const { from, ogate } = this.link;
		setText(this.rate, packetRate(reading.nodes.get(from)?.out[ogate]));
		setText(this.total, `${count(stats.nodes[from]?.out[ogate])} packets`);
		this.plot.update();
	}

	remove() {
		this.capture.remove();
		this.plot.remove();
	}
}
