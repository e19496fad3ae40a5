// SPDX-License-Identifier: BSD-3-Clause
// A node's counters as a table: total, rate, the last two minutes; what is ticked is plotted.

import { h, s, setAttribute, setText } from "./dom.js";
import { Plot, spark } from "./plot.js";
import { count, eventRate, packetRate, percent, withUnit } from "./format.js";

const GAUGES = {
	held: (n) => count(n),
	"cycles per packet": (n) => withUnit(n, ""),
	"packets per batch": (n) => (n > 0 ? n.toFixed(1) : "–"),
	"share of cycles": (n) => percent(n),
};

export function seriesFormat(key) {
	return GAUGES[key] ?? (key.startsWith("counters.") ? eventRate : packetRate);
}

// Every series of a node: its name, its total (null for what is no counter), its present value.
export function seriesNow(stats, rates) {
	const list = [];
	const push = (key, total, value) => list.push({ key, total, value });
	for (const side of ["in", "out"])
		for (const [i, total] of stats[side].entries()) push(`${side}[${i}]`, total, rates[side][i]);
	if (stats.made) push("made", stats.made, rates.made);
	if (stats.consumed) push("consumed", stats.consumed, rates.consumed);
	for (const [reason, total] of Object.entries(stats.dropped))
		push(`dropped.${reason}`, total, rates.drops[reason] ?? NaN);
	for (const [name, total] of Object.entries(stats.counters ?? {}))
		push(`counters.${name}`, total, rates.counters[name] ?? NaN);
	if (stats.room || stats.held) push("held", null, stats.held);
	push("cycles per packet", null, rates.perPacket);
	push("packets per batch", null, rates.batch);
	push("share of cycles", null, rates.share);
	return list;
}

const SAME_PLOT = (key) => (GAUGES[key] ? key : key.startsWith("counters.") ? "events" : "packets");

export class Counters {
	constructor(history, name, gateNames) {
		Object.assign(this, { history, name, gateNames });
		this.rows = new Map();
		this.body = h("tbody");
		this.plots = h("div", { class: "plots" });
		this.shown = null;
		this.live = [];
		this.element = h(
			"div",
			{},
			this.plots,
			h(
				"div",
				{ class: "scroll", tabindex: 0, role: "region", "aria-label": "Counters" },
				h(
					"table",
					{ class: "counters" },
					h(
						"thead",
						{},
						h(
							"tr",
							{},
							h("th", { scope: "col" }, "counter"),
							h("th", { scope: "col", class: "number" }, "total"),
							h("th", { scope: "col", class: "number" }, "now"),
							h("th", { scope: "col" }, "2 min")
						)
					),
					this.body
				)
			)
		);
	}

	label(key) {
		const gate = key.match(/^(in|out)\[(\d+)\]$/);
		const name = gate && this.gateNames[gate[1]]?.[gate[2]];
		return name ? `${key} ${name}` : key.replace(/^counters\./, "");
	}

	update(stats, rates) {
		const list = seriesNow(stats, rates);
		if (!this.shown) this.choose(list);
		const keys = new Set(list.map(({ key }) => key));
		for (const [key, row] of this.rows)
			if (!keys.has(key)) {
				row.element.remove();
				this.rows.delete(key);
			}
		const columns = this.history.read(list.map(({ key }) => `${this.name}\0${key}`));
		for (const [i, { key, total, value }] of list.entries()) {
			const row = this.row(key, i);
			setText(row.total, total === null ? "" : count(total));
			setText(row.value, seriesFormat(key)(value));
			setAttribute(row.spark, "d", spark(columns[i + 1].slice(-120)));
			row.element.classList.toggle("bad", key.startsWith("dropped.") && value > 0);
		}
		for (const plot of this.live) plot.update();
	}

	// At first: what comes in and goes out, and drops.
	choose(list) {
		const packets = list.map(({ key }) => key).filter((key) => SAME_PLOT(key) === "packets");
		const busy = packets.filter((key) => list.find((one) => one.key === key).total > 0);
		this.shown = new Set((busy.length ? busy : packets).slice(0, 4));
		this.replot();
	}

	row(key, i) {
		let row = this.rows.get(key);
		if (row) return row;
		const tick = h("input", {
			type: "checkbox",
			"aria-label": `plot ${this.label(key)}`,
			onchange: (event) => this.tick(key, event.target.checked),
		});
		tick.checked = this.shown.has(key);
		row = {
			total: h("td", { class: "number" }),
			value: h("td", { class: "number" }),
			spark: s("path", { class: "spark" }),
		};
		row.element = h(
			"tr",
			{},
			h("th", { scope: "row" }, h("label", {}, tick, " ", this.label(key))),
			row.total,
			row.value,
			h("td", {}, s("svg", { width: 62, height: 16, "aria-hidden": "true" }, row.spark))
		);
		this.rows.set(key, row);
		this.body.insertBefore(row.element, this.body.children[i] ?? null);
		return row;
	}

	tick(key, on) {
		if (on) this.shown.add(key);
		else this.shown.delete(key);
		this.replot();
	}

	// One plot for what is counted alike.
	replot() {
		for (const plot of this.live) plot.remove();
		const groups = new Map();
		for (const key of this.shown)
			groups.set(SAME_PLOT(key), [...(groups.get(SAME_PLOT(key)) ?? []), key]);
		this.live = [...groups].map(([, keys]) => this.plot(keys));
		this.plots.replaceChildren(...this.live.map((plot) => plot.element));
	}

	plot(keys) {
		const labels = keys.map((key) => this.label(key));
		let next = 1;
		return new Plot(this.history, {
			keys: keys.map((key) => `${this.name}\0${key}`),
			labels,
			format: seriesFormat(keys[0]),
			height: 120,
			colours: keys.map((key) =>
				key.startsWith("dropped.") ? "--line-drop" : `--line-${((next++ - 1) % 5) + 1}`
			),
			label: `${this.name}: ${labels.join(", ")}, of the last five minutes`,
		});
	}

	remove() {
		for (const plot of this.live) plot.remove();
		this.live = [];
	}
}
