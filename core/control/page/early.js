// SPDX-License-Identifier: BSD-3-Clause
// Light or dark before anything is painted: as was chosen here, or as the system has it.

globalThis.sluiceTheme = {
	get chosen() {
		try {
			const choice = localStorage.getItem("sluice-theme");
			return ["light", "dark"].includes(choice) ? choice : "auto";
		} catch {
			return "auto"; // a browser that keeps nothing
		}
	},
	apply(choice) {
		const dark = matchMedia("(prefers-color-scheme: dark)").matches;
		document.documentElement.dataset.theme = choice !== "auto" ? choice : dark ? "dark" : "light";
	},
};
globalThis.sluiceTheme.apply(globalThis.sluiceTheme.chosen);
