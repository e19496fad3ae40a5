// SPDX-License-Identifier: BSD-3-Clause
// The panel's tabs: one tab stop, arrow keys between them.

export class Tabs {
	constructor(list) {
		this.tabs = [...list.querySelectorAll("[role=tab]")];
		for (const tab of this.tabs) tab.addEventListener("click", () => this.show(tab.id));
		list.addEventListener("keydown", (event) => this.key(event));
	}

	key(event) {
		const at = this.tabs.indexOf(document.activeElement);
		const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: this.tabs.length - 1 }[event.key];
		if (at < 0 || to === undefined) return;
		event.preventDefault();
		event.stopPropagation();
		const tab = this.tabs[(to + this.tabs.length) % this.tabs.length];
		this.show(tab.id);
		tab.focus();
	}

	// `name`: the tab's id, with or without "tab-".
	show(name) {
		const id = name.startsWith("tab-") ? name : `tab-${name}`;
		for (const tab of this.tabs) {
			const on = tab.id === id;
			tab.setAttribute("aria-selected", String(on));
			tab.tabIndex = on ? 0 : -1;
			document.getElementById(tab.getAttribute("aria-controls")).hidden = !on;
		}
	}

	focus(name) {
		this.show(name);
		document.getElementById(`tab-${name}`).focus();
	}
}
