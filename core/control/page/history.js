// SPDX-License-Identifier: BSD-3-Clause
// The last minutes of every counter: rings of one length that share their times. Pure. What was
// always zero takes no memory, what is gone gives it back.

export const SAMPLES = 300;

function* nodeSeries(node) {
	yield ["packets", node.packets];
	for (const [i, n] of node.in.entries()) yield [`in[${i}]`, n];
	for (const [i, n] of node.out.entries()) yield [`out[${i}]`, n];
	yield ["made", node.made];
	yield ["consumed", node.consumed];
	yield ["dropped", node.dropped];
	for (const [name, n] of Object.entries(node.drops)) yield [`dropped.${name}`, n];
	for (const [name, n] of Object.entries(node.counters)) yield [`counters.${name}`, n];
	yield ["held", node.held];
	yield ["cycles per packet", node.perPacket];
	yield ["packets per batch", node.batch];
	yield ["share of cycles", node.share];
}

export class History {
	constructor(size = SAMPLES) {
		this.size = size;
		this.times = new Float64Array(size).fill(NaN);
		this.head = 0; // where the next sample goes
		this.count = 0;
		this.rings = new Map(); // "node\0series"
	}

	// A reading, as compare() gives it.
	add(reading) {
		this.times[this.head] = reading.time;
		for (const ring of this.rings.values()) ring[this.head] = NaN;
		for (const [name, node] of reading.nodes)
			for (const [series, value] of nodeSeries(node)) this.put(`${name}\0${series}`, value);
		for (const [name, port] of reading.ports)
			for (const key of ["rx_packets", "tx_packets", "rx_bytes", "tx_bytes", "errors"])
				this.put(`\0port\0${name}\0${key}`, port[key]);
		for (const [i, worker] of reading.workers.entries()) this.put(`\0worker\0${i}`, worker.load);
		this.put("\0made", reading.made);
		this.put("\0consumed", reading.consumed);
		this.put("\0dropped", reading.dropped);
		this.head = (this.head + 1) % this.size;
		this.count = Math.min(this.count + 1, this.size);
		// What holds nothing any more is looked for when the ring has gone round.
		if (this.head === 0) this.forget();
	}

	put(key, value) {
		let ring = this.rings.get(key);
		if (!ring) {
			if (!(value > 0)) return;
			ring = this.ring();
			this.rings.set(key, ring);
		}
		ring[this.head] = value;
	}

	// All was zero before something was counted.
	ring() {
		const ring = new Float32Array(this.size).fill(NaN);
		for (let i = 0; i < this.size; i++) if (!Number.isNaN(this.times[i])) ring[i] = 0;
		return ring;
	}

	// A time without readings: nothing is drawn across it.
	gap(time) {
		if (!this.count) return;
		this.times[this.head] = time;
		for (const ring of this.rings.values()) ring[this.head] = NaN;
		this.head = (this.head + 1) % this.size;
		this.count = Math.min(this.count + 1, this.size);
	}

	forget() {
		for (const [key, ring] of this.rings) if (!ring.some((n) => n > 0)) this.rings.delete(key);
	}

	// The series in order of time, oldest first; null where nothing is known.
	read(keys) {
		const start = (this.head - this.count + this.size) % this.size;
		const columns = [new Array(this.count), ...keys.map(() => new Array(this.count))];
		for (let i = 0; i < this.count; i++) {
			const at = (start + i) % this.size;
			columns[0][i] = this.times[at];
			for (const [k, key] of keys.entries()) {
				const value = this.rings.get(key)?.[at];
				columns[k + 1][i] = value === undefined ? 0 : Number.isNaN(value) ? null : value;
			}
		}
		return columns;
	}

	seriesOf(name) {
		const prefix = `${name}\0`;
		return [...this.rings.keys()]
			.filter((key) => key.startsWith(prefix))
			.map((key) => key.slice(prefix.length));
	}
}
