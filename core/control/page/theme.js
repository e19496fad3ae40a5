// SPDX-License-Identifier: BSD-3-Clause
// The switch of light and dark; early.js has set what holds at the start.

const CHOICES = ["auto", "light", "dark"];
const NAMES = { auto: "Auto", light: "Light", dark: "Dark" };
const WORDS = { auto: "as the system", light: "light", dark: "dark" };

export function theme(button, changed) {
	const early = globalThis.sluiceTheme;
	let choice = early.chosen;
	const show = () => {
		early.apply(choice);
		button.textContent = NAMES[choice];
		button.title = `Theme: ${WORDS[choice]}`;
		button.setAttribute("aria-label", `${NAMES[choice]}: theme ${WORDS[choice]}; change`);
		changed();
	};
	button.addEventListener("click", () => {
		choice = CHOICES[(CHOICES.indexOf(choice) + 1) % CHOICES.length];
		try {
			localStorage.setItem("sluice-theme", choice);
		} catch {
			// It lasts as long as the page then.
		}
		show();
	});
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);
	show();
}
