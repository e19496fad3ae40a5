// SPDX-License-Identifier: BSD-3-Clause
// An instance of sluice and a TCP port that leads to its socket, for the tests of the page.

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
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

export class Instance {
	constructor(name, file) {
		this.name = name;
		this.file = file;
		this.socket = `${process.env.SLUICE_SOCKETS}/${name}.sock`;
	}

	async start() {
		this.process = spawn(process.env.SLUICE, ["run", this.file, "--name", this.name, "--quiet"], {
			stdio: "ignore",
		});
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

	// A port on the loopback that leads to the socket, also of the next process of this name.
	forward() {
		const server = net.createServer((client) => {
			const to = net.connect(this.socket);
			client.pipe(to).pipe(client);
			for (const end of [client, to])
				end.on("error", () => {
					client.destroy();
					to.destroy();
				}).on("close", () => {
					client.destroy();
					to.destroy();
				});
		});
		this.server = server;
		return new Promise((done) => server.listen(0, "127.0.0.1", () => done(server.address().port)));
	}
}
