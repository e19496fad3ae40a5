// SPDX-License-Identifier: BSD-3-Clause
// A node in the panel: what it is, its counters and plots, parameters, links and commands.

import * as api from "./api.js";
import { h, setText } from "./dom.js";
import { Counters } from "./counters.js";
import { commandForm } from "./command.js";
import { linkKey } from "./layout.js";
import { count, packetRate, percent, reasons, withUnit } from "./format.js";

export class NodeView {
	// on: {node(name), link(key), trace(node)}
	constructor(root, name, history, links, on) {
		Object.assign(this, { root, name, history, on });
		this.title = h("h2", { tabindex: -1, class: "subject" }, name);
		this.about = h("p", { class: "about" });
		this.alarm = h("p", { class: "alarm", hidden: true });
		this.facts = h("dl", { class: "facts" });
		this.numbers = {};
		for (const key of ["packets", "cycles", "per packet", "batch", "held"])
			this.facts.append(this.fact(key));
		this.counters = new Counters(history, name, {});
		this.rest = h("div");
		root.replaceChildren(
			this.title,
			this.about,
			this.alarm,
			this.facts,
			h("section", {}, h("h3", {}, "Counters"), this.counters.element),
			this.links(links),
			this.rest
		);
		this.load();
	}

	fact(key) {
		const value = h("dd", {}, "–");
		this.numbers[key] = value;
		const box = h("div", {}, h("dt", {}, key), value);
		if (key === "held") this.heldBox = box;
		return box;
	}

	links(links) {
		const list = (title, some, other) =>
			some.length
				? h(
						"div",
						{ class: "link-list" },
						h("h4", {}, title),
						...some.map((link) =>
							h(
								"button",
								{
									type: "button",
									class: "link-button",
									onclick: () => this.on.link(linkKey(link)),
								},
								`[${link[other === "from" ? "igate" : "ogate"]}] ${other === "from" ? "from" : "to"} ${link[other]}`
							)
						)
					)
				: null;
		const into = list(
			"In",
			links.filter((link) => link.to === this.name),
			"from"
		);
		const out = list(
			"Out",
			links.filter((link) => link.from === this.name),
			"to"
		);
		return h(
			"section",
			{},
			h("h3", {}, "Links"),
			into,
			out,
			into || out ? null : h("p", { class: "quiet" }, "No link leads here or away.")
		);
	}

	async load() {
		let node;
		try {
			node = await api.node(this.name);
		} catch (error) {
			this.rest.replaceChildren(h("p", { class: "fault" }, `✕ ${error.message}`));
			return;
		}
		setText(
			this.about,
			`${node.module}: ${node.help}` +
				(node.workers?.length ? `. Runs on worker ${node.workers.join(", ")}.` : ".")
		);
		this.counters.gateNames = { in: node.igates, out: node.ogates };
		this.rest.replaceChildren(
			h(
				"section",
				{},
				h("h3", {}, "Commands"),
				node.commands.length
					? node.commands.map((command) => commandForm(this.name, command))
					: h("p", { class: "quiet" }, `${node.module} has no commands.`)
			),
			h("section", {}, h("h3", {}, "Parameters"), this.parameters(node)),
			h(
				"section",
				{},
				h(
					"button",
					{ type: "button", onclick: () => this.on.trace(this.name) },
					"Trace packets that come by"
				)
			)
		);
	}

	parameters(node) {
		if (!node.parameters.length) return h("p", { class: "quiet" }, `${node.module} has no parameters.`);
		return h(
			"dl",
			{ class: "parameters" },
			...node.parameters.map((row) => {
				const value = node.values?.[row.name];
				const same = value === row.default;
				return h(
					"div",
					{},
					h("dt", {}, row.name),
					h(
						"dd",
						{ class: same ? "at-default" : "" },
						value === undefined ? "" : value === "" ? "empty" : value
					),
					h("dd", { class: "hint" }, [row.help, row.type, row.range].filter(Boolean).join(" · "))
				);
			})
		);
	}

	update(stats, reading) {
		const raw = stats.nodes[this.name];
		const now = reading.nodes.get(this.name);
		if (!raw || !now) return;
		setText(this.numbers.packets, packetRate(now.packets));
		setText(this.numbers.cycles, percent(now.share));
		setText(
			this.numbers["per packet"],
			now.perPacket > 0 ? `${withUnit(now.perPacket, "")} cycles` : "–"
		);
		setText(this.numbers.batch, now.batch > 0 ? `${now.batch.toFixed(1)} packets` : "–");
		setText(this.numbers.held, now.room ? `${count(now.held)} of ${count(now.room)}` : count(now.held));
		this.heldBox.hidden = !now.room && !now.held;
		const drops = reasons(now.drops, 9);
		this.alarm.hidden = !drops;
		setText(this.alarm, drops && `✕ drops ${drops}`);
		this.counters.update(raw, now);
	}

	remove() {
		this.counters.remove();
	}
}
