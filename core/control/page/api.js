// SPDX-License-Identifier: BSD-3-Clause
// Requests to the instance that served the page, and to nobody else.

// A request that was answered with faults, or not at all (status 0).
export class Refused extends Error {
	constructor(status, errors) {
		super(errors.map((error) => error.message).join("\n"));
		this.status = status;
		this.errors = errors;
	}
}

async function faults(response) {
	let errors = null;
	try {
		({ errors } = await response.json());
	} catch {
		// What is no JSON says no more than the status.
	}
	return new Refused(
		response.status,
		errors?.length ? errors : [{ message: `the answer was ${response.status} ${response.statusText}` }]
	);
}

export async function request(path, options = {}) {
	let response;
	try {
		response = await fetch(path, { headers: { Accept: "application/json" }, ...options });
	} catch (error) {
		if (error.name === "AbortError" || error.name === "TimeoutError") throw error;
		throw new Refused(0, [{ message: "the instance does not answer" }]);
	}
	if (!response.ok) throw await faults(response);
	return response;
}

export async function json(path, options) {
	return (await request(path, options)).json();
}

const part = encodeURIComponent;
const quick = () => ({ signal: AbortSignal.timeout(10000) });

export const instance = () => json("/", quick());
export const stats = () => json("/stats", quick());
export const links = () => json("/links", quick());
export const node = (name) => json(`/nodes/${part(name)}`, quick());
export const command = (name, what, body) =>
	json(`/nodes/${part(name)}/${part(what)}`, { method: "POST", body });
export const explain = (body) => json("/explain", { method: "POST", body });
export const trace = (body, signal) =>
	request("/trace", { method: "POST", body, signal, headers: { Accept: "application/x-ndjson" } });

// Where a capture of one of the nodes or ports comes from; options that are empty are left out.
export function captureUrl(kind, name, options) {
	const query = new URLSearchParams();
	for (const [key, value] of Object.entries(options))
		if (String(value ?? "").trim() !== "") query.set(key, String(value).trim());
	return `/${kind}/${part(name)}/capture?${query}`;
}

// Hands a body's chunks on as they come.
export async function chunks(response, take) {
	const reader = response.body.getReader();
	for (;;) {
		const { done, value } = await reader.read();
		if (done) return;
		take(value);
	}
}
