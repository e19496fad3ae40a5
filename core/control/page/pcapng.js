// SPDX-License-Identifier: BSD-3-Clause
// What a capture that was cut off is worth: its whole blocks, and the packets in them. Pure.

const SECTION = 0x0a0d0d0a;
const PACKETS = new Set([2, 3, 6]); // obsolete, simple and enhanced packet blocks

// Reads blocks as they come, in chunks of any size.
export class Blocks {
	constructor() {
		this.chunks = [];
		this.bytes = 0; // that have come
		this.whole = 0; // of them in whole blocks
		this.packets = 0;
		this.rest = new Uint8Array(0);
		this.little = true;
	}

	add(chunk) {
		this.chunks.push(chunk);
		this.bytes += chunk.length;
		let data = chunk;
		if (this.rest.length) {
			data = new Uint8Array(this.rest.length + chunk.length);
			data.set(this.rest);
			data.set(chunk, this.rest.length);
		}
		let at = 0;
		for (;;) {
			const length = this.block(data, at);
			if (!length) break;
			at += length;
			this.whole += length;
		}
		this.rest = data.slice(at);
	}

	// The length of the block at `at`; 0 if it is not there yet.
	block(data, at) {
		if (data.length - at < 12) return 0;
		const view = new DataView(data.buffer, data.byteOffset + at, data.length - at);
		if (view.getUint32(0, true) === SECTION) this.little = view.getUint32(8, true) === 0x1a2b3c4d;
		const length = view.getUint32(4, this.little);
		if (length < 12 || data.length - at < length) return 0;
		if (PACKETS.has(view.getUint32(0, this.little))) this.packets++;
		return length;
	}

	// All that is whole, as parts of a Blob.
	parts() {
		const parts = [];
		let left = this.whole;
		for (const chunk of this.chunks) {
			if (!left) break;
			parts.push(chunk.length <= left ? chunk : chunk.subarray(0, left));
			left -= Math.min(left, chunk.length);
		}
		return parts;
	}
}
