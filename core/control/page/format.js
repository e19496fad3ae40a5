// SPDX-License-Identifier: BSD-3-Clause
// Numbers with their units, as people read them. Pure.

const PREFIXES = ["", "k", "M", "G", "T", "P", "E"];
const NBSP = "\u00a0";

// Three digits that say something, and a prefix: 1234567 is "1.23" and "M".
export function scaled(n) {
	let power = 0;
	let rest = Math.abs(n);
	while (rest >= 999.5 && power < PREFIXES.length - 1) {
		rest /= 1000;
		power++;
	}
	// A number below a thousand that was counted has no decimals.
	const whole = power === 0 && Number.isInteger(n);
	const digits = whole || rest >= 99.95 ? 0 : rest >= 9.995 ? 1 : 2;
	return { number: (n < 0 ? "-" : "") + rest.toFixed(digits), prefix: PREFIXES[power] };
}

export function withUnit(n, unit) {
	if (n === null || n === undefined || Number.isNaN(n)) return "–";
	const { number, prefix } = scaled(n);
	return unit || prefix ? `${number}${NBSP}${prefix}${unit}` : number;
}

// Packets per second. Below ten a rate is told with a decimal, so that 0.5 is not nothing.
export function packetRate(n) {
	return n > 0 && n < 0.005 ? `<${NBSP}0.01${NBSP}pps` : n === 0 ? `0${NBSP}pps` : withUnit(n, "pps");
}

export function bitRate(n) {
	return n === 0 ? `0${NBSP}bit/s` : withUnit(n, "bit/s");
}

// A rate of something that is no packet: events.
export function eventRate(n) {
	return n === 0 ? `0${NBSP}/s` : withUnit(n, "/s");
}

export function count(n) {
	if (n === null || n === undefined || Number.isNaN(n)) return "–";
	return Math.round(n)
		.toString()
		.replace(/\B(?=(\d{3})+$)/g, ",");
}

export function bytes(n) {
	return withUnit(n, "B");
}

export function percent(share) {
	if (share === null || share === undefined || Number.isNaN(share)) return "–";
	const n = share * 100;
	if (n > 0 && n < 0.1) return `<${NBSP}0.1${NBSP}%`;
	return `${n >= 9.95 || n === 0 ? n.toFixed(0) : n.toFixed(1)}${NBSP}%`;
}

export function duration(seconds) {
	const s = Math.floor(seconds);
	if (s < 60) return `${s}${NBSP}s`;
	if (s < 3600) return `${Math.floor(s / 60)}${NBSP}min ${s % 60}${NBSP}s`;
	if (s < 86400) return `${Math.floor(s / 3600)}${NBSP}h ${Math.floor(s / 60) % 60}${NBSP}min`;
	return `${Math.floor(s / 86400)}${NBSP}d ${Math.floor(s / 3600) % 24}${NBSP}h`;
}

// A short time, given in nanoseconds.
export function shortTime(ns) {
	const [size, unit] = ns < 1e3 ? [1, "ns"] : ns < 1e6 ? [1e3, "µs"] : ns < 1e9 ? [1e6, "ms"] : [1e9, "s"];
	return `${size === 1 ? ns : (ns / size).toPrecision(3)}${NBSP}${unit}`;
}

export function clock(date) {
	return date.toTimeString().slice(0, 8);
}

// "runt 5 pps, full 1.2 kpps": the largest first, and how many are left out.
export function reasons(drops, most = 2) {
	const list = Object.entries(drops)
		.filter(([, n]) => n > 0)
		.sort((a, b) => b[1] - a[1]);
	const shown = list.slice(0, most).map(([name, n]) => `${name} ${packetRate(n)}`);
	if (list.length > most) shown.push(`+${list.length - most}`);
	return shown.join(", ");
}
