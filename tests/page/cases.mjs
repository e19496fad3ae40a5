// SPDX-License-Identifier: BSD-3-Clause
// What must hold of the page in a browser: [name, async function of the context].

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

const node = (name) => `#canvas [data-node="${name}"]`;
const rateOf = (page, name) => page.locator(`${node(name)} .rate`).textContent();

async function accessible(page, axe, where) {
	await page.evaluate(axe);
	// A node's label begins with what stands in it first, its name; its numbers are told in words.
	const rules = { "label-content-name-mismatch": { enabled: false } };
	const { violations } = await page.evaluate((options) => globalThis.axe.run(document, options), {
		resultTypes: ["violations"],
		rules,
	});
	assert.deepEqual(
		violations.map(
			(one) =>
				`${where}: ${one.id}: ${one.nodes
					.map((node) => node.html.slice(0, 120))
					.slice(0, 3)
					.join(" ; ")}`
		),
		[]
	);
}

// Presses Tab until what has the focus fits.
async function tabTo(page, selector, most = 80) {
	for (let i = 0; i < most; i++) {
		await page.keyboard.press("Tab");
		if (await page.evaluate((wanted) => document.activeElement.matches(wanted), selector)) return;
	}
	assert.fail(`Tab does not come to ${selector}`);
}

const focused = (page) =>
	page.evaluate(() => document.activeElement.dataset.node ?? document.activeElement.textContent);

async function load(c) {
	c.page = await c.open(c.demo);
	await c.page.waitForFunction(() => document.querySelectorAll("#canvas [data-node]").length === 8);
	assert.equal(await c.page.textContent("#instance"), "page-demo");
	assert.equal(await c.page.title(), "page-demo – Sluice");
	assert.equal(await c.page.locator("#canvas [data-link]").count(), 7);
	assert.deepEqual(await c.page.locator(`${node("cls")} .gate-name`).allTextContents(), ["match", "miss"]);
}

async function rates(c) {
	await c.page.waitForFunction(
		(at) =>
			/pps/.test(document.querySelector(at).textContent) &&
			document.querySelector(at).textContent !== "0\u00a0pps",
		`${node("make")} .rate`
	);
	const before = await rateOf(c.page, "make");
	await c.page.waitForFunction(
		([at, was]) => document.querySelector(at).textContent !== was,
		[`${node("make")} .rate`, before]
	);
	const width = Number(await c.page.getAttribute('[data-link="cls[0]"] .line', "stroke-width"));
	assert.ok(width > 2, `the link is ${width} wide`);
}

async function drops(c) {
	await c.page.waitForSelector(`${node("cls")}.dropping`);
	assert.match(await c.page.textContent(`${node("cls")} .drop`), /✕ unconnected/);
	assert.match(await c.page.getAttribute(node("cls"), "aria-label"), /drops: unconnected/);
	await c.page.waitForSelector("#total-drop.bad");
	await c.page.waitForSelector(".nodes-table td.bad:has-text('unconnected')");
	await c.page.waitForSelector("#view-overview .uplot canvas");
	assert.ok(await c.page.locator(`${node("q")} .fill-frame`).count(), "a queue shows how full it is");
	await c.picture(c.page, "light");
}

async function details(c) {
	await c.page.click(`${node("fwd")} .box`);
	await c.page.waitForSelector("#view-selection h2:has-text('fwd')");
	await c.page.waitForSelector(".parameters dt:has-text('size')");
	assert.equal(await c.page.textContent(".parameters div:has(dt:text-is('size')) dd"), "64");
	await c.page.waitForSelector("#view-selection .counters tr:has-text('in[0]')");
	await c.page.waitForSelector("#view-selection .uplot canvas");
	await c.page.locator(".counters tr:has-text('flooded') input").check();
	await c.page.waitForFunction(() => document.querySelectorAll("#view-selection .uplot").length === 2);
}

async function command(c) {
	const form = c.page.locator("form[aria-label=add]");
	await c.page.click("summary:has-text('adds a static station')");
	await form.locator("input[name=mac]").fill("02:00:00:00:00:99");
	await form.locator("input[name=gate]").fill("0");
	await form.locator("button").click();
	await form.locator(".done").waitFor();
	const { value } = await c.demo.ask("POST", "/nodes/fwd/list");
	assert.ok(JSON.stringify(value).includes("02:00:00:00:00:99"));
	const list = c.page.locator("form[aria-label=list]");
	await c.page.click("summary:has-text('lists the stations')");
	await list.locator("button").click();
	await list.locator("td:has-text('02:00:00:00:00:99')").waitFor();
}

async function commandError(c) {
	const form = c.page.locator("form[aria-label=add]");
	const { value } = await c.demo.ask("POST", "/nodes/fwd/add", '{"mac": "zz", "gate": 77}');
	await form.locator("input[name=mac]").fill("zz");
	await form.locator("input[name=gate]").fill("77");
	await form.locator("button").click();
	await form.locator(".field.wrong").nth(1).waitFor();
	for (const [name, { message }] of [
		["mac", value.errors[0]],
		["gate", value.errors[1]],
	]) {
		const field = form.locator(`.field:has([name=${name}])`);
		assert.equal(
			await field.locator(".fault").textContent(),
			message.replace(`fwd add: ${name}: `, "✕ ")
		);
		assert.equal(await field.locator("input").getAttribute("aria-invalid"), "true");
	}
	assert.equal(await c.page.evaluate(() => document.activeElement.name), "mac");
	await c.picture(c.page, "error");
}

async function keyboard(c) {
	const page = await c.open(c.demo);
	await page.waitForSelector(`${node("make")}[tabindex="0"]`);
	await page.keyboard.press("Tab");
	assert.match(await focused(page), /Skip to the details/);
	await tabTo(page, "#canvas [data-node]");
	const down = await page.evaluate(() => {
		const at = (name) => document.querySelector(`[data-node=${name}]`).getBoundingClientRect();
		return at("cls").top > at("make").bottom;
	});
	const [next, back] = down ? ["ArrowDown", "ArrowUp"] : ["ArrowRight", "ArrowLeft"];
	assert.equal(await focused(page), "make");
	for (const name of ["cls", "q", "spread"]) {
		await page.keyboard.press(next);
		assert.equal(await focused(page), name);
	}
	await page.keyboard.press(next);
	assert.ok(["swap", "fwd"].includes(await focused(page)));
	await page.keyboard.press(back);
	assert.equal(await focused(page), "spread");
	const ring = await page.evaluate(
		() => getComputedStyle(document.activeElement.querySelector(".focus-ring")).stroke
	);
	assert.notEqual(ring, "none");
	await page.keyboard.press(back);
	await page.keyboard.press("Enter");
	assert.equal(await focused(page), "q");
	await page.waitForSelector("summary:has-text('level')");
	await tabTo(page, "summary");
	await page.keyboard.press("Enter");
	await tabTo(page, "form[aria-label=level] button");
	await page.keyboard.press("Enter");
	await page.waitForSelector("form[aria-label=level] dd:has-text('256')");
	await page.keyboard.press("Escape");
	assert.equal(await focused(page), "q");
	for (const [key, tab] of [
		["o", "overview"],
		["t", "trace"],
		["l", "log"],
		["s", "selection"],
	]) {
		await page.keyboard.press(key);
		assert.equal(await page.getAttribute(`#tab-${tab}`, "aria-selected"), "true");
	}
	await page.keyboard.press("ArrowRight");
	assert.equal(await page.getAttribute("#tab-trace", "aria-selected"), "true");
	await page.keyboard.press("/");
	await page.keyboard.type("swap");
	await page.keyboard.press("Enter");
	await page.waitForSelector("#view-selection h2:has-text('swap')");
	await page.keyboard.press("?");
	await page.waitForSelector("dialog[open]");
	await page.keyboard.press("Escape");
	assert.deepEqual(page.wrongs, []);
	await page.context().close();
}

async function capture(c) {
	await c.page.locator('[data-link="cls[0]"] .hit').click({ force: true });
	await c.page.waitForSelector("#view-selection h2:has-text('cls → q')");
	await c.page.fill("form[aria-label=Capture] [name=filter]", "no such filter");
	await c.page.click("form[aria-label=Capture] .primary");
	await c.page.waitForSelector("form[aria-label=Capture] .fault:not(:empty)");
	await c.page.fill("form[aria-label=Capture] [name=filter]", "udp");
	await c.page.fill("form[aria-label=Capture] [name=count]", "5");
	await downloads(c, "cls-0.pcapng");
	await c.picture(c.page, "capture");
}

async function downloads(c, name) {
	const download = c.page.waitForEvent("download");
	await c.page.click("form[aria-label=Capture] .primary");
	const file = await download;
	assert.equal(file.suggestedFilename(), name);
	assert.equal(readFileSync(await file.path()).readUInt32LE(0), 0x0a0d0d0a);
	await c.page.waitForSelector(".progress:has-text('Saved 5 packets')");
}

async function capturePort(c) {
	await c.page.click("#tab-overview");
	await c.page.click("#view-overview button:text-is('right')");
	await c.page.waitForSelector("#view-selection h2:has-text('right')");
	await c.page.waitForSelector("#view-selection tr:has-text('tx_packets') td:has-text('pps')");
	await c.page.fill("form[aria-label=Capture] [name=count]", "5");
	await downloads(c, "right.pcapng");
	await c.page.waitForSelector("#view-selection .u-value:has-text('pps')");
	await c.picture(c.page, "port");
}

const rated = (page, name) =>
	page.waitForFunction(
		(at) => /[1-9].*pps/.test(document.querySelector(at)?.textContent),
		`${node(name)} .rate`
	);

async function trace(c) {
	await c.page.click("#tab-trace");
	await c.page.fill("form[aria-label=Trace] [name=n]", "3");
	await c.page.click("form[aria-label=Trace] .primary");
	await c.page.waitForSelector(".packets button");
	await c.page.waitForSelector("#scene.lit-mode .node.lit");
	await c.page.waitForSelector("#scene .link.lit");
	const here = () => c.page.getAttribute(".node.here", "data-node");
	const first = await here();
	await c.page.click("text=Next ▸");
	assert.notEqual(await here(), first);
	await c.picture(c.page, "trace");
	await c.page.click("summary:has-text('Explain a packet')");
	await c.page.fill("form[aria-label=Explain] [name=packet]", "ether / ipv4 / udp dport=53");
	await c.page.fill("form[aria-label=Explain] [name=node]", "cls");
	await c.page.click("form[aria-label=Explain] button");
	await c.page.waitForSelector(".node.here[data-node=cls]");
	await c.page.click("text=Clear");
}

async function change(c) {
	await c.page.click(`${node("fwd")} .box`);
	await c.page.waitForSelector("#view-selection h2:has-text('fwd')");
	const { status } = await c.demo.ask(
		"PUT",
		"/graph?file=new.yaml",
		c.text.replace("  swap:", "  fresh:  MACSwap\n  swap:").replace("-> swap ->", "-> fresh -> swap ->")
	);
	assert.equal(status, 200);
	await c.page.waitForSelector(node("fresh"));
	await c.page.waitForSelector(`${node("fwd")}.selected`);
	assert.equal(await c.page.textContent("#view-selection h2"), "fwd");
	await c.page.waitForFunction(
		(at) => /pps/.test(document.querySelector(at).textContent),
		`${node("fresh")} .rate`
	);
}

async function restart(c) {
	await c.demo.stop();
	await c.page.waitForSelector("#state[data-state=lost]");
	assert.match(await c.page.textContent("#banner"), /does not answer since \d\d:\d\d:\d\d/);
	await c.picture(c.page, "lost");
	await c.demo.start();
	await c.page.waitForSelector("#state[data-state=live]");
	await c.page.waitForSelector("#banner:has-text('started anew')");
	await c.page.waitForFunction(() => !document.querySelector("[data-node=fresh]"));
	await c.page.waitForFunction(
		(at) => /[1-9].*pps/.test(document.querySelector(at).textContent),
		`${node("make")} .rate`
	);
	await c.page.waitForSelector(`${node("fwd")}.selected`);
	await c.picture(c.page, "restarted");
	await c.page.click("#banner button");
	assert.ok(await c.page.isHidden("#banner"));
	await c.page.click("#tab-log");
	await c.page.waitForSelector(".log li:has-text('started anew')");
}

async function themes(c) {
	const ground = () => c.page.evaluate(() => getComputedStyle(document.body).backgroundColor);
	const light = await ground();
	await c.page.click("#theme");
	assert.equal(await ground(), light);
	await c.page.click("#theme");
	const dark = await ground();
	assert.notEqual(dark, light);
	await c.page.reload();
	await c.page.waitForSelector("#state[data-state=live]");
	assert.equal(await ground(), dark, "what was chosen is kept");
	await rated(c.page, "make");
	await c.picture(c.page, "dark");
	await c.page.click("#theme");
	await c.page.emulateMedia({ colorScheme: "dark" });
	await c.until(async () => (await ground()) === dark);
	await c.page.emulateMedia({ colorScheme: "light" });
	await c.until(async () => (await ground()) === light);
}

async function axeRuns(c) {
	for (const scheme of ["light", "dark"]) {
		await c.page.emulateMedia({ colorScheme: scheme });
		await c.page.click(`${node("fwd")} .box`);
		await c.page.waitForSelector("summary:has-text('adds a static station')");
		await c.page.click("summary:has-text('adds a static station')");
		for (const tab of ["overview", "selection", "trace", "log"]) {
			await c.page.click(`#tab-${tab}`);
			await accessible(c.page, c.axe, `${scheme}, ${tab}`);
		}
	}
}

async function clean(c) {
	assert.deepEqual(c.page.wrongs, []);
	await c.page.context().close();
}

async function small(c) {
	const page = await c.open(c.demo, {
		viewport: { width: 360, height: 740 },
		hasTouch: true,
		isMobile: true,
	});
	c.page = page;
	await rated(page, "make");
	const fits = async () =>
		assert.ok(
			await page.evaluate(() => document.documentElement.scrollWidth <= 360),
			"it is as wide as the screen"
		);
	await fits();
	await c.picture(page, "small");
	await page.tap(`${node("fwd")} .box`);
	await page.waitForSelector("summary:has-text('adds a static station')");
	await c.until(() =>
		page.evaluate(
			() => document.querySelector("#view-selection h2").getBoundingClientRect().top < innerHeight
		)
	);
	await fits();
	await page.tap("summary:has-text('adds a static station')");
	await fits();
	await c.picture(page, "small-node");
	for (const tab of ["overview", "trace", "log"]) {
		await page.tap(`#tab-${tab}`);
		await fits();
	}
	await accessible(page, c.axe, "small");
	assert.deepEqual(page.wrongs, []);
	await page.context().close();
}

async function many(c) {
	c.page = await c.open(c.big);
	const { page } = c;
	await page.waitForFunction(() => document.querySelectorAll("#canvas [data-node]").length === 200);
	await page.waitForFunction(
		(at) => /[1-9].*pps/.test(document.querySelector(at).textContent),
		`${node("make_0")} .rate`
	);
	await c.picture(page, "200-nodes");
	await page.keyboard.press("0");
	await page.waitForSelector("#canvas[data-zoom=far]");
	await c.picture(page, "200-nodes-fit");
	await page.fill("#find", "out_7_1");
	await page.keyboard.press("Enter");
	await page.waitForSelector(`${node("out_7_1")}.selected`);
	const inside = await page.evaluate((at) => {
		const box = document.querySelector(at).getBoundingClientRect(),
			all = document.querySelector("#canvas").getBoundingClientRect();
		return (
			box.left >= all.left && box.right <= all.right && box.top >= all.top && box.bottom <= all.bottom
		);
	}, node("out_7_1"));
	assert.ok(inside, "what was found is in sight");
	for (let i = 0; i < 10; i++) await page.keyboard.press("ArrowLeft");
	await c.picture(page, "200-nodes-near");
}

// A reading is shown within a few frames: nobody waits for the page.
async function fluent(c) {
	const longest = await c.page.evaluate(
		() =>
			new Promise((done) => {
				const tasks = [];
				new PerformanceObserver((list) =>
					tasks.push(...list.getEntries().map((entry) => entry.duration))
				).observe({ type: "longtask" });
				const rate = document.querySelector("#uptime");
				let seen = 0;
				new MutationObserver(() => {
					if (++seen === 4) done(Math.max(0, ...tasks));
				}).observe(rate, { characterData: true, childList: true, subtree: true });
			})
	);
	// Generous, for a machine that does much else; a page that builds everything anew takes longer.
	assert.ok(longest < 1500, `the page stood still for ${longest.toFixed(0)} ms`);
}

export const demo = [
	["it loads: nodes, links, gates", load],
	["a rate changes", rates],
	["drops and their reasons", drops],
	["a node: parameters, counters, plots", details],
	["a command is run, and its answer shown", command],
	["a wrong argument: the server's words at its field", commandError],
	["a link: its capture downloads", capture],
	["a port: its capture downloads", capturePort],
	["a packet's way lights up", trace],
	["by keyboard alone", keyboard],
	["the graph changes, the selection stays", change],
	["it survives a restart, and says so", restart],
	["light and dark", themes],
	["axe finds nothing", axeRuns],
	["no error, and no request elsewhere", clean],
	["a small screen", small],
];
export const big = [
	["200 nodes", many],
	["200 nodes: it stays fluent", fluent],
	["200 nodes: no error, and no request elsewhere", clean],
];
