// SPDX-License-Identifier: BSD-3-Clause
// The page: readings come in, the graph and the open panel show them.

import * as api from "./api.js";
import { byId, h, setText } from "./dom.js";
import { Feed } from "./feed.js";
import { GraphView } from "./graphview.js";
import { History } from "./history.js";
import { LinkView } from "./linkview.js";
import { Log, words } from "./log.js";
import { NodeView } from "./nodeview.js";
import { Overview } from "./overview.js";
import { PortView } from "./portview.js";
import { Tabs } from "./tabs.js";
import { TraceView } from "./traceview.js";
import { redrawPlots } from "./plot.js";
import { compare } from "./rates.js";
import { clock, duration, packetRate, percent } from "./format.js";
import { linkKey } from "./layout.js";
import { nodesOf, partlyNamed } from "./gates.js";
import { theme } from "./theme.js";

const NAMES_MAX = 40; // nodes that are asked for the names of gates without links
const HIDDEN_MS = 60000; // so long a page that nobody sees goes on asking

const history = new History();
const tabs = new Tabs(byId("tabs"));
const select = {
	node: (name, byKey) => choose({ kind: "node", name }, byKey),
	link: (key) => choose({ kind: "link", key }),
};
const graph = new GraphView({ ...select, none: () => choose(null) });
const overview = new Overview(byId("view-overview"), history, {
	node: (name) => choose({ kind: "node", name }, true),
	port: (name) => choose({ kind: "port", name }, true),
});
const trace = new TraceView(byId("view-trace"), {
	light: (way) => graph.drawing.light(way),
	reveal: (name) => graph.reveal(name),
});
const log = new Log(byId("view-log"));

let stats = null; // the last that was read
let reading = null; // and what it says beside the one before
let drawn = ""; // what of it is drawn: names, modules and gates
let selected = null;
let view = null; // of the selection
let lostAt = null;

const shapeOf = (nodes) =>
	JSON.stringify(
		Object.entries(nodes).map(([name, node]) => [
			name,
			node.module,
			node.in.length,
			node.out.length,
			node.room ?? 0,
		])
	);

function banner(text, { bad = false, dismiss = false } = {}) {
	const element = byId("banner");
	element.hidden = !text;
	element.classList.toggle("bad", bad);
	if (!text || element.dataset.text !== text)
		element.replaceChildren(
			text ?? "",
			dismiss ? h("button", { type: "button", onclick: () => banner(null) }, "Dismiss") : ""
		);
	element.dataset.text = text ?? "";
}

function emptySelection(text) {
	byId("view-selection").replaceChildren(h("p", { class: "quiet" }, text));
}

function choose(what, byKey = false) {
	view?.remove();
	view = null;
	selected = what;
	graph.select(what);
	const root = byId("view-selection");
	if (!what) {
		emptySelection("Choose a node or a link in the graph.");
		return;
	}
	open(root);
	if (!view) return;
	tabs.show("selection");
	byId("panel").scrollTop = 0;
	// On a small screen the panel lies below the graph.
	if (root.getBoundingClientRect().top > innerHeight * 0.7 || root.getBoundingClientRect().top < 0)
		root.scrollIntoView();
	if (byKey) root.querySelector("h2").focus();
}

function open(root) {
	const on = {
		...select,
		node: (name) => choose({ kind: "node", name }, true),
		link: (key) => choose({ kind: "link", key }, true),
		trace: (name) => {
			trace.about(name);
			tabs.focus("trace");
		},
	};
	const link = selected.kind === "link" && graph.links.find((one) => linkKey(one) === selected.key);
	if (selected.kind === "node" && graph.layout?.boxes.has(selected.name))
		view = new NodeView(root, selected.name, history, graph.links, on);
	else if (selected.kind === "port" && stats?.ports[selected.name])
		view = new PortView(root, selected.name, history);
	else if (link) view = new LinkView(root, link, history, on);
	else emptySelection(`${selected.name ?? selected.key} is no longer in the graph.`);
	if (view && reading) view.update(stats, reading);
}

// Reads what the counters do not tell: links and the names of gates.
async function redraw(nodes, reopen) {
	drawn = shapeOf(nodes);
	const links = await api.links();
	const list = nodesOf(nodes, links);
	await Promise.all(
		list
			.filter(partlyNamed)
			.slice(0, NAMES_MAX)
			.map(async (node) => {
				const all = await api.node(node.name).catch(() => ({}));
				node.inames = all.igates ?? node.inames;
				node.onames = all.ogates ?? node.onames;
			})
	);
	graph.show(list, links);
	if (selected && reopen) {
		view?.remove();
		view = null;
		open(byId("view-selection"));
		graph.select(selected);
	}
	trace.relight();
}

// Several that ask at once get one drawing.
let redrawing = null;
function redrawOnce(nodes, reopen) {
	redrawing ??= redraw(nodes, reopen)
		.catch(() => {
			drawn = "";
		})
		.finally(() => {
			redrawing = null;
		});
	return redrawing;
}

function totals() {
	const loads = reading.workers.map((worker) => worker.load).filter((load) => load >= 0);
	setText(byId("total-made"), packetRate(reading.made));
	setText(byId("total-consumed"), packetRate(reading.consumed));
	setText(byId("total-dropped"), packetRate(reading.dropped));
	byId("total-drop").classList.toggle("bad", reading.dropped > 0);
	setText(byId("total-load"), loads.length ? percent(Math.max(...loads)) : "–");
	setText(byId("uptime"), duration(stats.seconds));
}

const feed = new Feed({
	async instance(instance, restarted) {
		setText(byId("instance"), instance.name);
		document.title = `${instance.name} – Sluice`;
		byId("instance").title = `${instance.file}, process ${instance.pid}`;
		if (restarted) {
			const text = `The instance was started anew as process ${instance.pid}; its counters began at zero.`;
			log.add(text);
			banner(text, { dismiss: true });
		} else if (lostAt) {
			banner(null);
		}
		if (restarted || !stats || lostAt) {
			stats = restarted ? null : stats;
			const now = await api.stats().catch(() => null);
			if (now) await redrawOnce(now.nodes, true);
		}
	},
	stats(now) {
		// A clock that did not go on is no new reading.
		if (stats && now.time_ns <= stats.time_ns) return;
		if (shapeOf(now.nodes) !== drawn) redrawOnce(now.nodes, true);
		reading = compare(now, stats);
		stats = now;
		if (reading.seconds > 5 || !reading.seconds) history.gap(reading.time);
		if (reading.seconds) history.add(reading);
		totals();
		graph.update(reading);
		if (!byId("view-overview").hidden) overview.update(reading);
		view?.update(stats, reading);
	},
	state(name, text) {
		const element = byId("state");
		if (name === "live" && element.dataset.state !== "live" && lostAt) {
			log.add("It answers again.");
			lostAt = null;
		}
		element.dataset.state = name;
		document.body.classList.toggle("stale", name === "lost" || name === "denied");
		setText(
			byId("state-text"),
			{ live: "Live", lost: "No answer", denied: "Not allowed", paused: "Paused" }[name] ?? "Connecting"
		);
		if (name === "denied") banner(`The instance refuses the page: ${text}`, { bad: true });
		if (name !== "lost") return;
		if (!lostAt) {
			lostAt = new Date();
			log.add("The instance does not answer.", true);
		}
		banner(
			`The instance does not answer since ${clock(lostAt)}. What is shown is what was last known. Asking again every second.`,
			{ bad: true }
		);
	},
	event(name, data) {
		const text = words(name, data);
		if (text) log.add(text, name === "fault");
		if (name === "graph" && stats)
			api.stats().then(
				(now) => redrawOnce(now.nodes, true),
				() => {}
			);
	},
});

function keys(event) {
	const typing = event.target.closest?.("input, textarea, select, dialog");
	if (event.ctrlKey || event.altKey || event.metaKey) return;
	if (event.key === "Escape" && !event.target.closest?.("dialog")) {
		graph.focus();
		return;
	}
	if (typing) return;
	const act = {
		"/": () => byId("find").focus(),
		"?": () => byId("keys").showModal(),
		g: () => graph.focus(),
		o: () => tabs.focus("overview"),
		s: () => tabs.focus("selection"),
		t: () => tabs.focus("trace"),
		l: () => tabs.focus("log"),
		"+": () => graph.view.zoomBy(1.25),
		"=": () => graph.view.zoomBy(1.25),
		"-": () => graph.view.zoomBy(0.8),
		0: () => graph.fit(),
		d: () => graph.turn(),
	}[event.key];
	if (!act) return;
	event.preventDefault();
	act();
}

let hiddenTimer = null;
document.addEventListener("visibilitychange", () => {
	clearTimeout(hiddenTimer);
	if (document.hidden) hiddenTimer = setTimeout(() => feed.pause(), HIDDEN_MS);
	else if (feed.paused) feed.start();
});
document.addEventListener("keydown", keys);
byId("help").addEventListener("click", () => byId("keys").showModal());
byId("tabs").addEventListener("click", () => reading && overview.update(reading));
theme(byId("theme"), redrawPlots);
emptySelection("Choose a node or a link in the graph.");
feed.start();
