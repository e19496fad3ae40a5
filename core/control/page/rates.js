// SPDX-License-Identifier: BSD-3-Clause
// What two readings of the counters say together: rates and shares. Pure.

const sum = (list) => list.reduce((a, b) => a + b, 0);

// A counter that is smaller than before belongs to something new: that is no rate.
export function rate(now, before, seconds) {
	if (before === undefined || before === null || !(seconds > 0) || now < before) return NaN;
	return (now - before) / seconds;
}

// What a node has handled: what came in, or what a source let out.
export function handled(node) {
	return sum(node.in) || sum(node.out);
}

function mapRates(now = {}, before = {}, seconds, fresh) {
	const rates = {};
	for (const [name, value] of Object.entries(now))
		// A reason is told once it has happened: before, it was 0.
		rates[name] = rate(value, before[name] ?? (fresh ? undefined : 0), seconds);
	return rates;
}

function nodeRates(now, before, seconds) {
	const was = before ?? {};
	const packets = rate(handled(now), before && handled(before), seconds);
	const drops = mapRates(now.dropped, was.dropped, seconds, !before);
	const sampled = now.cycles_sampled - (was.cycles_sampled ?? 0);
	const cycles = now.cycles - (was.cycles ?? 0);
	const batches = rate(now.batches, was.batches, seconds);
	return {
		module: now.module,
		packets,
		in: now.in.map((n, i) => rate(n, was.in?.[i], seconds)),
		out: now.out.map((n, i) => rate(n, was.out?.[i], seconds)),
		made: rate(now.made, was.made, seconds),
		consumed: rate(now.consumed, was.consumed, seconds),
		drops,
		dropped: sum(Object.values(drops).filter((n) => n > 0)),
		counters: mapRates(now.counters, was.counters, seconds, !before),
		batch: batches > 0 ? packets / batches : NaN,
		perPacket: sampled > 0 && cycles >= 0 ? cycles / sampled : NaN,
		held: now.held,
		room: now.room ?? 0,
		share: NaN,
	};
}

// Each node's share of the cycles that all nodes take.
function fillShares(nodes) {
	const cost = (node) => (node.perPacket > 0 && node.packets > 0 ? node.perPacket * node.packets : 0);
	const all = sum([...nodes.values()].map(cost));
	for (const node of nodes.values()) node.share = all > 0 ? cost(node) / all : 0;
}

function portRates(now, before, seconds) {
	const rates = { driver: now.driver, errors: 0 };
	for (const name of Object.keys(now)) {
		if (name === "driver") continue;
		rates[name] = rate(now[name], before?.[name], seconds);
		if (/errors|missed|no_memory/.test(name) && rates[name] > 0) rates.errors += rates[name];
	}
	return rates;
}

function workerRates(now, before) {
	const same = before && before.core === now.core;
	const busy = same ? now.busy_cycles - before.busy_cycles : NaN;
	const idle = same ? now.idle_cycles - before.idle_cycles : NaN;
	return { core: now.core, load: busy >= 0 && idle >= 0 && busy + idle > 0 ? busy / (busy + idle) : NaN };
}

// The answers of two GET /stats, in order; `before` may be null.
export function compare(now, before) {
	const seconds = before ? (now.time_ns - before.time_ns) / 1e9 : 0;
	const nodes = new Map();
	const ports = new Map();
	for (const [name, node] of Object.entries(now.nodes)) {
		const was = before?.nodes[name];
		nodes.set(name, nodeRates(node, was?.module === node.module ? was : undefined, seconds));
	}
	fillShares(nodes);
	for (const [name, port] of Object.entries(now.ports))
		ports.set(name, portRates(port, before?.ports[name], seconds));
	return {
		time: now.time_ns / 1e9,
		seconds,
		nodes,
		ports,
		workers: now.workers.map((worker, i) => workerRates(worker, before?.workers[i])),
		made: total(nodes, "made"),
		consumed: total(nodes, "consumed"),
		dropped: total(nodes, "dropped"),
	};
}

function total(nodes, key) {
	return sum([...nodes.values()].map((node) => node[key]).filter((n) => n > 0));
}
