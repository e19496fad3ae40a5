// SPDX-License-Identifier: BSD-3-Clause
// An instance of sluice that listens on a TCP port with a token, for the tests of the page.

import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, writeFileSync } from "node:fs";
import http from "node:http";
import net from "node:net";

export async function until(what, seconds = 30) {
	const end = Date.now() + seconds * 1000;
	for (;;) {
		const value = await what();
		if (value) return value;
		if (Date.now() > end) throw new Error(`not within ${seconds} s: ${what}`);
		await new Promise((done) => setTimeout(done, 50));
	}
}

// A TCP port of the loopback that nobody listens on.
function freePort() {
	const server = net.createServer();
	return new Promise((done) =>
		server.listen(0, "127.0.0.1", () => {
			const { port } = server.address();
			server.close(() => done(port));
		})
	);
}

export class Instance {
	constructor(name, file) {
		this.name = name;
		this.file = file;
		this.token = randomBytes(16).toString("hex");
		this.socket = `${process.env.SLUICE_SOCKETS}/${name}.sock`;
	}

	async start() {
		this.port ??= await freePort();
		writeFileSync(`${this.file}.token`, this.token, { mode: 0o600 });
		const options = ["--name", this.name, "--quiet", "--listen", `127.0.0.1:${this.port}`];
		this.process = spawn(
			process.env.SLUICE,
			["run", this.file, ...options, "--token-file", `${this.file}.token`],
			{ stdio: "ignore" }
		);
		this.ended = new Promise((done) => this.process.once("exit", done));
		await until(() => existsSync(this.socket));
		await until(() =>
			this.ask("GET", "/").then(
				() => true,
				() => false
			)
		);
	}

	async stop() {
		this.process?.kill("SIGTERM");
		await this.ended;
	}

	// The status and the JSON of an answer.
	ask(method, path, body) {
		return new Promise((done, failed) => {
			const request = http.request(
				{ socketPath: this.socket, method, path, timeout: 20000 },
				(response) => {
					let text = "";
					response.on("data", (part) => {
						text += part;
					});
					response.on("end", () => {
						try {
							done({ status: response.statusCode, value: JSON.parse(text) });
						} catch (error) {
							failed(error);
						}
					});
				}
			);
			request.on("error", failed);
			request.end(body);
		});
	}
}
