// SPDX-License-Identifier: BSD-3-Clause
// Forms from the tables of a node: which field an argument gets, what is sent, and at which field a
// fault is shown. Pure. The server's checker alone says what is right, in its words.

// What a field looks like: {kind: "choice", choices} or {kind: "text" | "lines", mode}.
export function fieldOf(argument) {
	const { type } = argument;
	if (type.startsWith("list of ")) return { kind: "lines", mode: "text" };
	if (type.includes("|")) return { kind: "choice", choices: type.split("|") };
	if (type === "number") return { kind: "text", mode: "numeric" };
	if (type === "decimal number") return { kind: "text", mode: "decimal" };
	return { kind: "text", mode: "text" };
}

const PLAIN = new Set(["text", "node"]); // types that go without saying

// "number, 1 to 20, default 4": what stands below a field.
export function hintOf(argument) {
	return [PLAIN.has(argument.type) && !argument.range ? "" : argument.type, argument.range]
		.filter(Boolean)
		.join(", ");
}

const QUOTED = new Set(["text", "hex", "packet", "node"]);

// A value as the server's reader wants it: what is no text goes without quotes, if it is one word.
function written(argument, value) {
	if (argument.type.startsWith("list of ")) return /^\s*[[{]/.test(value) ? value : `[${value}]`;
	if (!QUOTED.has(argument.type) && /^[A-Za-z0-9_.+-]+$/.test(value)) return value;
	return JSON.stringify(value);
}

// The body of a command: a map that is left open to what the checker finds wrong. Fields that were
// left empty are left out; so the default holds, or the checker says that one is missing.
export function bodyOf(args, values) {
	const parts = args
		.filter((argument) => (values[argument.name] ?? "").trim() !== "")
		.map((argument) => `${JSON.stringify(argument.name)}: ${written(argument, values[argument.name])}`);
	return `{${parts.join(", ")}}`;
}

// Which faults belong to which argument: {fields: Map of name to texts, others: [texts]}. Faults
// begin with what was asked, such as `NODE COMMAND`, then the argument's name; or they
// have words in them that tell which it is (`fault` of an argument).
export function faultsOf(errors, asked, args) {
	const fields = new Map();
	const others = [];
	const prefix = `${asked}: `;
	for (const { message } of errors) {
		const text = message.startsWith(prefix) ? message.slice(prefix.length) : message;
		const name = args
			.map((argument) => argument.name)
			.sort((a, b) => b.length - a.length)
			.find((one) => text.startsWith(one) && /^(: |\[| is |$)/.test(text.slice(one.length)));
		if (!name) {
			const about = args.find(({ fault }) => fault && text.includes(fault));
			if (about) fields.set(about.name, [...(fields.get(about.name) ?? []), text]);
			else others.push(text);
			continue;
		}
		const rest = text.slice(name.length).replace(/^(: | )/, "");
		fields.set(name, [...(fields.get(name) ?? []), rest]);
	}
	return { fields, others };
}

// An answer as rows for a table: a list of objects with the same keys; or null.
export function rowsOf(value) {
	if (
		!Array.isArray(value) ||
		!value.length ||
		!value.every((row) => row && typeof row === "object" && !Array.isArray(row))
	)
		return null;
	const columns = [...new Set(value.flatMap((row) => Object.keys(row)))];
	return { columns, rows: value.map((row) => columns.map((column) => plain(row[column]))) };
}

export function plain(value) {
	if (value === null || value === undefined) return "";
	return typeof value === "object" ? JSON.stringify(value) : String(value);
}
