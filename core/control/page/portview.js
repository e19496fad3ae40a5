// SPDX-License-Identifier: BSD-3-Clause
// A port in the panel: what it receives and sends, its counters, and a capture that downloads.

import * as api from "./api.js";
import { CaptureForm } from "./captureform.js";
import { h, setText } from "./dom.js";
import { Plot } from "./plot.js";
import { bitRate, count, packetRate, withUnit } from "./format.js";

const rateOf = (name, n) =>
	name.endsWith("_packets")
		? packetRate(n)
		: name.endsWith("_bytes")
			? bitRate(n * 8)
			: n === 0
				? "0"
				: withUnit(n, "/s");

export class PortView {
	constructor(root, name, history) {
		Object.assign(this, { root, name });
		this.about = h("p", { class: "about" });
		this.rows = new Map();
		this.body = h("tbody");
		this.plot = new Plot(history, {
			keys: ["rx_packets", "tx_packets"].map((key) => `\0port\0${name}\0${key}`),
			labels: ["receives", "sends"],
			format: packetRate,
			label: `Packets a second that ${name} receives and sends, of the last five minutes`,
		});
		this.capture = new CaptureForm((options) => api.captureUrl("ports", name, options), name);
		root.replaceChildren(
			h("h2", { tabindex: -1, class: "subject" }, name),
			this.about,
			h(
				"section",
				{},
				this.plot.element,
				h(
					"table",
					{},
					h(
						"thead",
						{},
						h(
							"tr",
							{},
							h("th", { scope: "col" }, "counter"),
							h("th", { scope: "col", class: "number" }, "total"),
							h("th", { scope: "col", class: "number" }, "now")
						)
					),
					this.body
				)
			),
			h(
				"section",
				{},
				h("h3", {}, "Capture of what it receives and sends"),
				this.capture.element
			)
		);
	}

	row(key) {
		let cells = this.rows.get(key);
		if (!cells) {
			cells = [h("td", { class: "number" }), h("td", { class: "number" })];
			this.rows.set(key, cells);
			this.body.append(h("tr", {}, h("th", { scope: "row" }, key), ...cells));
		}
		return cells;
	}

	update(stats, reading) {
		const raw = stats.ports[this.name];
		const now = reading.ports.get(this.name);
		if (!raw || !now) return;
		setText(this.about, `A port of the driver ${raw.driver}.`);
		for (const [key, value] of Object.entries(raw)) {
			if (typeof value !== "number") continue;
			const [total, rate] = this.row(key);
			setText(total, count(value));
			setText(rate, rateOf(key, now[key]));
		}
		this.plot.update();
	}

	remove() {
		this.capture.remove();
		this.plot.remove();
	}
}
