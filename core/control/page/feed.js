// SPDX-License-Identifier: BSD-3-Clause
// The stream of readings: server-sent events, or where there are none, a question a second. Says
// when the instance goes away, and comes back, and whether it is another process then.

import * as api from "./api.js";

const RETRY_MS = 1000;
const SILENT_MS = 5000; // so long without a reading: the connection is as good as gone
const EVENTS_AGAIN_MS = 60000;
const STREAMED = ["graph", "command", "fault", "capture", "stop"];

export class Feed {
	// on: {state(name, text), instance(instance, restarted), stats(stats), event(name, data)}
	constructor(on) {
		this.on = on;
		this.source = null;
		this.timer = null;
		this.pid = null;
		this.paused = false;
		this.eventsAfter = 0; // when events are tried again
		this.turn = 0; // of connections; what an old one still brings is not heard
	}

	start() {
		this.paused = false;
		this.connect();
	}

	pause() {
		this.paused = true;
		this.close();
		this.on.state("paused", "paused while nobody looks");
	}

	close() {
		this.turn++;
		clearTimeout(this.timer);
		this.source?.close();
		this.source = null;
	}

	later(ms, what) {
		clearTimeout(this.timer);
		this.timer = setTimeout(what, ms);
	}

	async connect() {
		this.close();
		const { turn } = this;
		let instance;
		try {
			instance = await api.instance();
		} catch (error) {
			if (turn === this.turn) this.lost(error);
			return;
		}
		if (turn !== this.turn) return;
		const restarted = this.pid !== null && this.pid !== instance.pid;
		this.pid = instance.pid;
		await this.on.instance(instance, restarted);
		if (turn !== this.turn) return;
		if (Date.now() < this.eventsAfter) this.poll(turn);
		else this.listen(turn);
	}

	lost(error) {
		this.close();
		this.on.state(
			error?.status === 401 || error?.status === 403 ? "denied" : "lost",
			error?.message ?? ""
		);
		this.later(RETRY_MS, () => this.connect());
	}

	reading(stats) {
		this.on.state("live", "");
		this.on.stats(stats);
	}

	listen(turn) {
		const source = new EventSource("/events?interval=1s");
		let heard = false;
		this.source = source;
		source.addEventListener("stats", (event) => {
			heard = true;
			this.later(SILENT_MS, () => this.lost());
			this.reading(JSON.parse(event.data));
		});
		for (const name of STREAMED)
			source.addEventListener(name, (event) =>
				this.on.event(name, event.data ? JSON.parse(event.data) : {})
			);
		source.onerror = () => {
			if (turn !== this.turn) return;
			source.close();
			if (heard) {
				this.lost();
				return;
			}
			// It answers, but has no events (or no more of them) to give.
			this.eventsAfter = Date.now() + EVENTS_AGAIN_MS;
			this.poll(turn);
		};
		this.later(SILENT_MS, () => source.onerror());
	}

	async poll(turn) {
		try {
			const stats = await api.stats();
			if (turn !== this.turn) return;
			this.reading(stats);
			if (Date.now() > this.eventsAfter) this.later(RETRY_MS, () => this.connect());
			else this.later(RETRY_MS, () => this.poll(turn));
		} catch (error) {
			if (turn === this.turn) this.lost(error);
		}
	}
}
