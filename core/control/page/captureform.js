// SPDX-License-Identifier: BSD-3-Clause
// A capture as a form: what it takes, how far it is, and the file that downloads.

import * as api from "./api.js";
import { h } from "./dom.js";
import { fieldset } from "./command.js";
import { Blocks } from "./pcapng.js";
import { bytes, count } from "./format.js";

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

export class CaptureForm {
	// url(options): where the capture comes from; name: of the file, without its ending.
	constructor(url, name) {
		Object.assign(this, { url, name });
		this.element = this.form();
	}

	form() {
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
			const response = await api.request(this.url(options), {
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
		const name = `${this.name.replace(/[^\w.-]+/g, "-").replace(/-$/, "")}.pcapng`;
		const url = URL.createObjectURL(new Blob(blocks.parts(), { type: "application/x-pcapng" }));
		h("a", { href: url, download: name }).click();
		setTimeout(() => URL.revokeObjectURL(url), 60000);
		this.progress.textContent = `Saved ${count(blocks.packets)} packets, ${bytes(blocks.whole)}, as ${name}.`;
	}

	remove() {
		this.abort?.abort();
	}
}
