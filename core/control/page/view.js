// SPDX-License-Identifier: BSD-3-Clause
// Zoom and pan: by wheel, by one and two fingers, by keys. It moves one group of the drawing.

const LEAST = 0.08,
	MOST = 3;
const LEGEND = 38; // at the lower edge

export class View {
	constructor(svg, scene, changed) {
		this.svg = svg;
		this.scene = scene;
		this.changed = changed;
		this.room = { width: 0, height: 0 }; // of the drawing on the page
		this.x = 0;
		this.y = 0;
		this.zoom = 1;
		this.size = { width: 1, height: 1 };
		this.pointers = new Map();
		this.moved = 0;
		this.touched = false; // by the user: then it is not fitted by itself
		this.listen();
	}

	listen() {
		const { svg } = this;
		svg.addEventListener(
			"wheel",
			(event) => {
				event.preventDefault();
				const { left, top } = svg.getBoundingClientRect();
				const lines = event.deltaMode === 1 ? 16 : 1;
				this.zoomAt(
					Math.exp(-event.deltaY * lines * 0.0015),
					event.clientX - left,
					event.clientY - top
				);
			},
			{ passive: false }
		);
		svg.addEventListener("pointerdown", (event) => {
			if (event.button === 0)
				this.pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
			this.moved = 0;
		});
		svg.addEventListener("pointermove", (event) => this.drag(event));
		for (const end of ["pointerup", "pointercancel", "pointerleave"])
			svg.addEventListener(end, (event) => this.pointers.delete(event.pointerId));
		// The end of a drag is no click on what lies below.
		svg.addEventListener(
			"click",
			(event) => {
				if (this.moved > 6) event.stopPropagation();
			},
			true
		);
	}

	drag(event) {
		const last = this.pointers.get(event.pointerId);
		if (!last) return;
		const now = { x: event.clientX, y: event.clientY };
		const dx = now.x - last.x,
			dy = now.y - last.y;
		if (this.pointers.size === 2) {
			const [other] = [...this.pointers].filter(([id]) => id !== event.pointerId).map(([, at]) => at);
			const before = Math.hypot(last.x - other.x, last.y - other.y);
			const after = Math.hypot(now.x - other.x, now.y - other.y);
			const { left, top } = this.svg.getBoundingClientRect();
			this.zoomAt(
				after / Math.max(before, 1),
				(now.x + other.x) / 2 - left,
				(now.y + other.y) / 2 - top
			);
		}
		this.moved += Math.abs(dx) + Math.abs(dy);
		if (this.moved > 6) this.svg.setPointerCapture(event.pointerId);
		this.pan(dx / this.pointers.size, dy / this.pointers.size);
		this.pointers.set(event.pointerId, now);
	}

	// Whether a box is in sight, or nearly.
	shows(box) {
		const { width, height } = this.room;
		const x = box.x * this.zoom + this.x,
			y = box.y * this.zoom + this.y;
		const w = box.width * this.zoom,
			h = box.height * this.zoom;
		return x > -w && x < width + w && y > -h && y < height + h;
	}

	apply() {
		this.scene.setAttribute(
			"transform",
			`translate(${this.x.toFixed(1)} ${this.y.toFixed(1)}) scale(${this.zoom.toFixed(4)})`
		);
		this.svg.dataset.zoom = this.zoom < 0.3 ? "far" : this.zoom < 0.55 ? "middle" : "near";
		this.changed();
	}

	pan(dx, dy) {
		this.touched = true;
		this.x += dx;
		this.y += dy;
		this.apply();
	}

	zoomAt(factor, x, y) {
		const zoom = Math.min(Math.max(this.zoom * factor, LEAST), MOST);
		this.x = x - ((x - this.x) * zoom) / this.zoom;
		this.y = y - ((y - this.y) * zoom) / this.zoom;
		this.zoom = zoom;
		this.touched = true;
		this.apply();
	}

	zoomBy(factor) {
		const { width, height } = this.svg.getBoundingClientRect();
		this.zoomAt(factor, width / 2, height / 2);
	}

	// All of it, but no larger than life. What would be too small to read begins at its start.
	fit(size, { readable = false } = {}) {
		const { width, height: all } = this.svg.getBoundingClientRect();
		const height = Math.max(all - LEGEND, 1);
		const whole = Math.min(width / size.width, height / size.height, 1.15);
		const zoom = readable ? Math.max(whole, 0.5) : whole;
		this.size = size;
		this.zoom = Math.max(zoom, LEAST);
		this.x = Math.max((width - size.width * this.zoom) / 2, 0);
		this.y = size.height * this.zoom > height && size.down ? 0 : (height - size.height * this.zoom) / 2;
		this.touched = false;
		this.apply();
	}

	// Brings a place into sight, moving no more than is needed.
	reveal(box) {
		const { width, height } = this.svg.getBoundingClientRect();
		const margin = 24;
		const x = box.x * this.zoom + this.x,
			y = box.y * this.zoom + this.y;
		const w = (box.width / 2) * this.zoom + margin,
			h = (box.height / 2) * this.zoom + margin;
		const shift = (at, half, room) =>
			2 * half > room ? room / 2 - at : Math.max(half - at, 0) + Math.min(room - half - at, 0);
		this.x += shift(x, w, width);
		this.y += shift(y, h, height - LEGEND);
		this.apply();
	}
}
