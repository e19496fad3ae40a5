// SPDX-License-Identifier: BSD-3-Clause
// One JSON value a line, from chunks of any size. Pure.

export class Lines {
	constructor() {
		this.decoder = new TextDecoder();
		this.rest = "";
	}

	// The values whose lines this chunk ends.
	add(chunk) {
		const lines = (this.rest + this.decoder.decode(chunk, { stream: true })).split("\n");
		this.rest = lines.pop();
		return lines.filter((line) => line.trim()).map((line) => JSON.parse(line));
	}

	end() {
		const rest = this.rest + this.decoder.decode();
		this.rest = "";
		return rest.trim() ? [JSON.parse(rest)] : [];
	}
}
