// SPDX-License-Identifier: BSD-3-Clause
// What has happened while the page was open: changes, commands, faults, restarts. The last hundred.

import { h } from "./dom.js";
import { clock } from "./format.js";

const MOST = 100;

const fates = ({ nodes = {}, losses = [] } = {}) =>
	["new", "removed", "replaced", "live"]
		.filter((fate) => nodes[fate]?.length)
		.map((fate) => `${{ live: "changed" }[fate] ?? fate}: ${nodes[fate].join(", ")}`)
		.concat(losses.length ? [`lost: ${losses.join(", ")}`] : [])
		.join("; ");

// An event of the server in words; null: it is not worth a line.
export function words(name, data) {
	switch (name) {
		case "graph":
			return `The graph was changed. ${fates(data.diff) || "No node differs."}`;
		case "command":
			return `Command ${data.command} of ${data.node} was run.`;
		case "fault":
			return `Fault: ${data.message}`;
		case "capture":
			return `Capture ${data.id} has ${data.state}.`;
		case "stop":
			return "The instance stops.";
		default:
			return null;
	}
}

export class Log {
	constructor(root, tab) {
		this.tab = tab;
		this.list = h("ol", { class: "log" });
		this.none = h(
			"p",
			{ class: "quiet" },
			"Nothing has happened since the page was opened. " +
				"Changes of the graph, commands, captures, faults and restarts are told here."
		);
		root.append(this.none, this.list);
	}

	add(text, bad = false) {
		this.none.hidden = true;
		this.list.prepend(
			h(
				"li",
				{ class: bad ? "bad" : null },
				h("time", {}, clock(new Date())),
				" ",
				bad ? "✕ " : "",
				text
			)
		);
		while (this.list.children.length > MOST) this.list.lastChild.remove();
	}
}
