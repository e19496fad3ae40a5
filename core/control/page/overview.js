// SPDX-License-Identifier: BSD-3-Clause
// The first panel: all packets, the workers, the ports, and the nodes as a table that sorts.

import { h, setAttribute, setText } from "./dom.js";
import { Plot } from "./plot.js";
import { bitRate, packetRate, percent, reasons, withUnit } from "./format.js";

const ascending = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
const amount = (n) => (n > 0 ? n : 0);

const SORT_READINGS = 4; // after which rows are put in order again
const COLUMNS = [
	{ name: "node", title: "by name", key: (row) => row.name, text: (row) => row.name },
	{
		name: "rate",
		title: "packets a second",
		key: (row) => -amount(row.packets),
		text: (row) => packetRate(row.packets),
	},
	{
		name: "cycles",
		title: "share of all cycles",
		key: (row) => -amount(row.share),
		text: (row) => percent(row.share),
	},
	{
		name: "per pkt",
		title: "cycles a packet",
		key: (row) => -amount(row.perPacket),
		text: (row) => (row.perPacket > 0 ? row.perPacket.toFixed(row.perPacket < 100 ? 1 : 0) : "–"),
	},
	{
		name: "drops",
		title: "drops a second, with their reasons",
		key: (row) => -amount(row.dropped),
		text: (row) => reasons(row.drops, 3) || "–",
	},
];

export class Overview {
	// on: {node(name), port(name)}
	constructor(root, history, on) {
		this.on = on;
		this.sort = 2;
		this.rows = new Map();
		this.workers = h("div", { class: "workers" });
		this.ports = h("tbody");
		this.portRows = new Map();
		this.nodes = h("tbody");
		this.heads = COLUMNS.map((column, i) =>
			h(
				"th",
				{ scope: "col", class: i && i < 4 ? "number" : null },
				h(
					"button",
					{ type: "button", title: `Sort ${column.title}`, onclick: () => this.sortBy(i) },
					column.name
				)
			)
		);
		this.plot = new Plot(history, {
			keys: ["\0made", "\0consumed", "\0dropped"],
			labels: ["in", "out", "dropped"],
			format: packetRate,
			colours: ["--line-1", "--line-2", "--line-drop"],
			label: "Packets a second of the last five minutes",
		});
		this.portSection = h(
			"section",
			{},
			h("h2", {}, "Ports"),
			h(
				"div",
				{ class: "scroll", tabindex: 0, role: "region", "aria-label": "Ports" },
				h(
					"table",
					{},
					h(
						"thead",
						{},
						h(
							"tr",
							{},
							...["port", "receives", "", "sends", "", "errors"].map((name, i) =>
								name
									? h(
											"th",
											{
												scope: "col",
												colspan: i === 1 || i === 3 ? 2 : null,
												class: i ? "number" : null,
											},
											name
										)
									: null
							)
						)
					),
					this.ports
				)
			)
		);
		root.append(
			h("section", {}, h("h2", {}, "Packets"), this.plot.element),
			h("section", {}, h("h2", {}, "Workers"), this.workers),
			this.portSection,
			h(
				"section",
				{},
				h("h2", {}, "Nodes"),
				h(
					"div",
					{ class: "scroll", tabindex: 0, role: "region", "aria-label": "Nodes" },
					h(
						"table",
						{ class: "nodes-table" },
						h("thead", {}, h("tr", {}, ...this.heads)),
						this.nodes
					)
				)
			)
		);
		this.sortBy(2);
	}

	sortBy(i) {
		this.sort = i;
		for (const [k, head] of this.heads.entries())
			head.setAttribute("aria-sort", k === i ? (i ? "descending" : "ascending") : "none");
		this.order = null;
		if (this.reading) this.updateNodes(this.reading);
	}

	update(reading) {
		this.reading = reading;
		this.plot.update();
		this.updateWorkers(reading.workers);
		this.updatePorts(reading.ports);
		this.updateNodes(reading);
	}

	updateWorkers(workers) {
		while (this.workers.children.length > workers.length) this.workers.lastChild.remove();
		while (this.workers.children.length < workers.length)
			this.workers.append(
				h("div", { class: "worker" }, h("span"), h("meter", { min: 0, max: 1 }), h("b"))
			);
		for (const [i, worker] of workers.entries()) {
			const [name, meter, load] = this.workers.children[i].children;
			setText(name, `worker ${i} · core ${worker.core}`);
			setAttribute(meter, "aria-label", `load of worker ${i}`);
			meter.value = worker.load || 0;
			setText(load, percent(worker.load));
		}
	}

	updatePorts(ports) {
		this.portSection.hidden = ports.size === 0;
		for (const [name, row] of this.portRows)
			if (!ports.has(name)) {
				row.remove();
				this.portRows.delete(name);
			}
		for (const [name, port] of ports) {
			let row = this.portRows.get(name);
			if (!row) {
				row = h(
					"tr",
					{},
					h(
						"th",
						{ scope: "row" },
						h("button", { type: "button", class: "link-button", onclick: () => this.on.port(name) })
					),
					...Array.from({ length: 5 }, () => h("td", { class: "number" }))
				);
				this.portRows.set(name, row);
				this.ports.append(row);
			}
			const texts = [
				packetRate(port.rx_packets),
				bitRate(port.rx_bytes * 8),
				packetRate(port.tx_packets),
				bitRate(port.tx_bytes * 8),
				port.errors > 0 ? `✕ ${withUnit(port.errors, "/s")}` : "–",
			];
			row.title = `${name}: ${port.driver}`;
			row.lastChild.classList.toggle("bad", port.errors > 0);
			setText(row.children[0].firstChild, name);
			for (const [i, text] of texts.entries()) setText(row.children[i + 1], text);
		}
	}

	updateNodes({ nodes, seconds }) {
		const list = this.sorted(nodes);
		// The first reading has no rates to sort by.
		if (!seconds) this.order = null;
		for (const [name, row] of this.rows)
			if (!nodes.has(name)) {
				row.remove();
				this.rows.delete(name);
			}
		for (const [i, node] of list.entries()) {
			const row = this.row(node.name);
			if (this.nodes.children[i] !== row && !row.contains(document.activeElement))
				this.nodes.insertBefore(row, this.nodes.children[i] ?? null);
			for (const [k, column] of COLUMNS.entries())
				setText(k ? row.children[k] : row.children[0].firstChild, column.text(node));
			row.lastChild.classList.toggle("bad", node.dropped > 0);
		}
	}

	// Rows keep their places for a while: they are to be read.
	sorted(nodes) {
		const { key } = COLUMNS[this.sort];
		if (
			this.order?.length !== nodes.size ||
			this.order.some((name) => !nodes.has(name)) ||
			this.age++ >= SORT_READINGS
		) {
			this.age = 0;
			this.order = [...nodes]
				.map(([name, node]) => ({ name, ...node }))
				.sort((a, b) => ascending(key(a), key(b)) || ascending(a.name, b.name))
				.map(({ name }) => name);
		}
		return this.order.map((name) => ({ name, ...nodes.get(name) }));
	}

	row(name) {
		let row = this.rows.get(name);
		if (!row) {
			row = h(
				"tr",
				{},
				h(
					"th",
					{ scope: "row" },
					h("button", { type: "button", class: "link-button", onclick: () => this.on.node(name) })
				),
				...COLUMNS.slice(1).map((_, i) => h("td", { class: i < 3 ? "number" : "reasons" }))
			);
			this.rows.set(name, row);
		}
		return row;
	}
}
