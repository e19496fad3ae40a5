// SPDX-License-Identifier: BSD-3-Clause
// A command as a form: fields from its table, faults at their fields, the answer below.

import * as api from "./api.js";
import { h } from "./dom.js";
import { bodyOf, faultsOf, fieldOf, hintOf, plain, rowsOf } from "./forms.js";

let ids = 0;

export function field(argument) {
	const id = `field-${++ids}`;
	const described = `${id}-hint ${id}-fault`;
	const { kind, mode, choices } = fieldOf(argument);
	const common = {
		id,
		list: argument.suggest,
		name: argument.name,
		"aria-describedby": described,
		"aria-required": argument.required ? "true" : null,
	};
	let input;
	if (kind === "choice")
		input = h(
			"select",
			common,
			h(
				"option",
				{ value: "" },
				argument.required ? "choose" : `default: ${argument.default || "empty"}`
			),
			...choices.map((choice) => h("option", { value: choice }, choice))
		);
	else if (kind === "lines") input = h("textarea", { ...common, rows: 2, spellcheck: "false" });
	else
		input = h("input", {
			...common,
			type: "text",
			inputmode: mode,
			autocomplete: "off",
			spellcheck: "false",
			placeholder: argument.default ?? "",
			value: argument.value,
		});
	const fault = h("p", { class: "fault", id: `${id}-fault` });
	const element = h(
		"div",
		{ class: "field" },
		h(
			"label",
			{ for: id },
			argument.name,
			argument.required ? h("span", { class: "required" }, " required") : null
		),
		input,
		h(
			"p",
			{ class: "hint", id: `${id}-hint` },
			[argument.help, hintOf(argument)].filter(Boolean).join(" · ")
		),
		fault
	);
	return {
		name: argument.name,
		element,
		input,
		get value() {
			return input.value;
		},
		fail(text) {
			fault.textContent = text ? `✕ ${text}` : "";
			element.classList.toggle("wrong", Boolean(text));
			if (text) input.setAttribute("aria-invalid", "true");
			else input.removeAttribute("aria-invalid");
		},
	};
}

// What a command answers: tables for lists of the like, pairs for the rest.
export function answerView(value) {
	const rows = rowsOf(value);
	if (rows)
		return h(
			"div",
			{ class: "scroll", tabindex: 0, role: "region", "aria-label": "Answer" },
			h(
				"table",
				{},
				h("thead", {}, h("tr", {}, ...rows.columns.map((name) => h("th", { scope: "col" }, name)))),
				h(
					"tbody",
					{},
					...rows.rows.map((row) => h("tr", {}, ...row.map((cell) => h("td", {}, cell))))
				)
			)
		);
	if (value && typeof value === "object" && !Array.isArray(value)) {
		const pairs = Object.entries(value);
		if (!pairs.length) return h("p", { class: "done" }, "✓ Done.");
		return h(
			"dl",
			{ class: "pairs" },
			...pairs.flatMap(([key, one]) => [
				h("dt", {}, key),
				h(
					"dd",
					{},
					Array.isArray(one) && one.length && typeof one[0] === "object"
						? answerView(one)
						: plain(one)
				),
			])
		);
	}
	return h("pre", {}, plain(value));
}

// Fields of a table, and what shows faults at them: {fields, others, values(), show(errors)}.
export function fieldset(asked, args) {
	const fields = args.map(field);
	const others = h("div", { class: "fault", role: "alert" });
	return {
		fields,
		others,
		values: () => Object.fromEntries(fields.map((one) => [one.name, one.value])),
		show(errors) {
			const faults = faultsOf(errors, asked, args);
			for (const one of fields) one.fail((faults.fields.get(one.name) ?? []).join("; "));
			others.textContent = faults.others.map((text) => `✕ ${text}`).join("\n");
			fields.find((one) => faults.fields.has(one.name))?.input.focus();
		},
	};
}

export function commandForm(node, command) {
	const { fields, others, values, show } = fieldset(`${node} ${command.name}`, command.arguments);
	const answer = h("div", { class: "answer", role: "status" });
	const button = h("button", { class: "primary" }, "Run ", command.name);
	const form = h(
		"form",
		{ class: "command", "aria-label": command.name, novalidate: true },
		...fields.map((one) => one.element),
		button,
		others,
		answer
	);
	form.addEventListener("submit", async (event) => {
		event.preventDefault();
		answer.replaceChildren();
		button.disabled = true;
		try {
			const reply = await api.command(node, command.name, bodyOf(command.arguments, values()));
			show([]);
			answer.replaceChildren(answerView(reply));
		} catch (error) {
			show(error.errors ?? [{ message: error.message }]);
		}
		button.disabled = false;
		// Whoever ran it by key is still there.
		if (document.activeElement === document.body) button.focus();
	});
	return h(
		"details",
		{ class: "command-box" },
		h("summary", {}, h("b", {}, command.name), " ", h("span", { class: "help" }, command.help)),
		form
	);
}
