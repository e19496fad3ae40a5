// SPDX-License-Identifier: BSD-3-Clause
// The page in a real Chromium: node browser.mjs FOLDER, where FOLDER has the packages of
// package-lock.json. Prints a line a test, as tests/lib/script.sh has them; pictures are left in
// FOLDER/pictures. It waits for what must come, never for a time.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { Instance, until } from "./instance.mjs";
import * as cases from "./cases.mjs";

const folder = process.argv[2];
const require = createRequire(join(folder, "package.json"));
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const pictures = join(folder, "pictures");
mkdirSync(pictures, { recursive: true });

let failed = false;

const DEMO = `
ports: {right: {"null": {rx: false}}}
nodes:
  make:   {Source: {burst: 8, templates: ["ether / ipv4 / udp dport=53 / pad 60", "ether src=02:00:00:00:00:03 / arp"]}}
  cls:    {Filter: {expression: udp}}
  q:      {Queue: {size: 256, backpressure: "off"}}
  spread: Tee
  fwd:    {L2Fwd: {size: 64}}
  swap:   MACSwap
  tx:     {PortOut: {port: right}}
graph:
  - make -> cls
  - cls[match] -> q -> spread
  - spread[0] -> swap -> tx
  - spread[1] -> fwd -> Sink
`;

// 200 nodes: chains with branches.
function bigGraph() {
	const nodes = [],
		links = [];
	for (let c = 0; c < 8; c++) {
		const chain = [...Array(14).keys()].map((i) => `stage_${c}_${i}`);
		nodes.push(
			`  make_${c}: {Source: {burst: 4}}`,
			`  q_${c}: {Queue: {size: 512}}`,
			`  tee_${c}: Tee`,
			...chain.map((name) => `  ${name}: MACSwap`)
		);
		links.push(
			`make_${c} -> ${[...chain.slice(0, 5), `q_${c}`, ...chain.slice(5)].join(" -> ")} -> tee_${c}`
		);
		for (const b of [0, 1]) {
			nodes.push(
				`  left_${c}_${b}: MACSwap`,
				`  mid_${c}_${b}: MACSwap`,
				`  right_${c}_${b}: MACSwap`,
				`  out_${c}_${b}: Sink`
			);
			links.push(
				`tee_${c}[${b}] -> left_${c}_${b} -> mid_${c}_${b} -> right_${c}_${b} -> out_${c}_${b}`
			);
		}
	}
	return `nodes:\n${nodes.join("\n")}\ngraph:\n${links.map((link) => `  - "${link}"`).join("\n")}\n`;
}

// A page that notes what it should not do: errors, requests elsewhere, parts that are not there.
async function openPage(browser, { port, token }, options = {}) {
	const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
	const page = await context.newPage();
	const origin = `http://127.0.0.1:${port}`;
	page.wrongs = [];
	page.on("pageerror", (error) => page.wrongs.push(error.stack));
	page.on("console", (message) => {
		// What the server refuses is logged by the browser, whatever the page makes of it.
		if (message.type() === "error" && !message.text().startsWith("Failed to load resource"))
			page.wrongs.push(message.text());
	});
	page.on("request", (request) => {
		if (!request.url().startsWith(`${origin}/`) && !request.url().startsWith(`blob:${origin}/`))
			page.wrongs.push(`a request to ${request.url()}`);
	});
	page.on("response", (response) => {
		if (response.status() >= 400 && response.url().includes("/page"))
			page.wrongs.push(`${response.status()} ${response.url()}`);
	});
	// The token is given once; then the browser has it as a cookie.
	await page.goto(`${origin}/?token=${token}`);
	if (page.url() !== `${origin}/`) page.wrongs.push(`the token led to ${page.url()}`);
	await page.waitForSelector("#state[data-state=live]");
	return page;
}

function tester(context) {
	return async (name, run) => {
		try {
			await run(context);
			console.log(`ok ${name}`);
		} catch (error) {
			failed = true;
			const lines = String(error.stack ?? error)
				.split("\n")
				.filter((line) => !line.includes("node_modules"));
			console.log(`not ok ${name}: ${lines.slice(0, 6).join(" | ").slice(0, 700)}`);
			await context.page
				?.screenshot({ path: join(pictures, `failed-${name.replace(/\W+/g, "-")}.png`) })
				.catch(() => {});
		}
	};
}

async function launch() {
	const args = process.getuid() === 0 ? ["--no-sandbox"] : [];
	try {
		return await chromium.launch({ executablePath: process.env.CHROMIUM, args });
	} catch (error) {
		console.log(
			`skipped the page in a browser: Chromium does not start here: ${String(error.message).split("\n")[0]}`
		);
		return null;
	}
}

async function run(instances) {
	const browser = await launch();
	if (!browser) return;
	const file = (name, text) => {
		writeFileSync(join(folder, name), text);
		return join(folder, name);
	};
	const demo = new Instance("page-demo", file("demo.yaml", DEMO));
	const big = new Instance("page-big", file("big.yaml", bigGraph()));
	instances.push(demo, big);
	const open = (instance, options) => openPage(browser, instance, options);
	const context = {
		browser,
		demo,
		big,
		open,
		until,
		axe,
		text: DEMO,
		picture: (page, name) => page.screenshot({ path: join(pictures, `${name}.png`) }),
	};
	const test = tester(context);
	await demo.start();
	for (const [name, one] of cases.demo) await test(name, one);
	await demo.stop();
	await big.start();
	for (const [name, one] of cases.big) await test(name, one);
	await browser.close();
}

const instances = [];
try {
	await run(instances);
} catch (error) {
	failed = true;
	console.log(`not ok the page in a browser: ${String(error.stack).split("\n").slice(0, 4).join(" | ")}`);
}
for (const instance of instances) await instance.stop();
process.exit(failed ? 1 : 0);
