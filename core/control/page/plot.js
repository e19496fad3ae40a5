// SPDX-License-Identifier: BSD-3-Clause
// Plots of the last minutes, by uPlot. Lines differ in their dashes too, not in colour alone.

import { h } from "./dom.js";

const DASHES = [[], [7, 4], [2, 3]];
const BORDERS = ["solid", "dashed", "dotted"]; // of the legend's marks, as the dashes are
const SPAN_LEAST = 60; // seconds; a plot that begins grows from there
const { uPlot } = globalThis;

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// Everything that is drawn on a canvas has to be told when the theme changes.
const all = new Set();
export function redrawPlots() {
	for (const plot of all) plot.build();
}

export class Plot {
	// keys: of a History; labels: what the legend says; format: of a value with its unit.
	constructor(history, { keys, labels, format, colours, height = 130, span = 300, label }) {
		Object.assign(this, { history, keys, labels, format, height, span, label });
		this.colours = colours ?? keys.map((_, i) => `--line-${(i % 6) + 1}`);
		this.element = h("div", { class: "plot", role: "img", "aria-label": label });
		this.plot = null;
		this.resize = new ResizeObserver(([{ contentRect }]) => this.fit(contentRect.width));
		this.resize.observe(this.element);
		all.add(this);
	}

	options(width) {
		const axis = {
			stroke: colour("--dim"),
			font: "11px system-ui, sans-serif",
			grid: { stroke: colour("--grid"), width: 1 },
			ticks: { show: false },
		};
		return {
			width,
			height: this.height,
			cursor: { drag: { x: false, y: false }, points: { size: 6 } },
			legend: { live: true, markers: { dash: (_, i) => BORDERS[(i - 1) % BORDERS.length] } },
			scales: {
				x: { range: () => this.range() },
				y: { range: (_, low, high) => [0, high > 0 ? high * 1.08 : 1] },
			},
			axes: [
				{
					...axis,
					size: 22,
					space: 70,
					values: (_, marks) =>
						marks.map((mark) => new Date(mark * 1000).toTimeString().slice(0, 8)),
				},
				{
					...axis,
					size: 76,
					space: 28,
					values: (_, marks) => marks.map((mark) => this.format(mark)),
				},
			],
			series: [
				{
					label: "time",
					value: (_, at) => (at === null ? "" : new Date(at * 1000).toTimeString().slice(0, 8)),
				},
				...this.keys.map((_, i) => ({
					label: this.labels[i],
					stroke: colour(this.colours[i]),
					width: 1.5,
					dash: DASHES[i % DASHES.length],
					points: { show: false },
					value: (__, value) => (value === null || value === undefined ? "–" : this.format(value)),
				})),
			],
		};
	}

	range() {
		const { times, head, size, count } = this.history;
		const last = times[(head - 1 + size) % size] || Date.now() / 1000;
		const first = count ? times[(head - count + size) % size] : last;
		return [last - Math.min(Math.max(last - first, SPAN_LEAST), this.span), last];
	}

	build() {
		const width = this.element.clientWidth;
		this.plot?.destroy();
		this.plot = null;
		if (width > 40)
			this.plot = new uPlot(this.options(width), this.history.read(this.keys), this.element);
		this.tellLast();
	}

	fit(width) {
		if (!this.plot) this.build();
		else if (width > 40 && width !== this.plot.width) this.plot.setSize({ width, height: this.height });
	}

	update() {
		this.plot?.setData(this.history.read(this.keys));
		this.tellLast();
	}

	// Where nobody points, the legend tells the last values.
	tellLast() {
		if (this.plot && !(this.plot.cursor.left >= 0))
			this.plot.setLegend({ idx: this.plot.data[0].length - 1 });
	}

	remove() {
		all.delete(this);
		this.resize.disconnect();
		this.plot?.destroy();
		this.element.remove();
	}
}

// A small line for a table's cell: the last two minutes.
export function spark(values) {
	const most = Math.max(...values.map((n) => n ?? 0), 0);
	if (!(most > 0)) return "";
	let text = "",
		pen = "M";
	for (const [i, value] of values.entries()) {
		if (value === null) {
			pen = "M";
			continue;
		}
		text += `${pen}${((i / Math.max(values.length - 1, 1)) * 60).toFixed(1)} ${(15 - (14 * value) / most).toFixed(1)}`;
		pen = "L";
	}
	return text;
}
