// The studio in a real browser: the first-time path, keyboard alone, narrow and wide, and no violation that axe-core knows.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { chromium } from "playwright-core";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const pictures = process.env.PICTURES ?? new URL("pictures", import.meta.url).pathname;
mkdirSync(pictures, { recursive: true });

let browser;
before(async () => {
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] });
});
after(() => browser?.close());

/** Starts a studio in a new folder, or in this one, and opens it in a window of its own. */
async function studio(options = {}) {
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), "studio-"));
  const child = spawn(process.env.KOHORT, ["studio", folder, "--no-browser"], { stdio: ["pipe", "pipe", "inherit"] });
  let printed = "";
  child.stdout.on("data", (data) => (printed += data));
  while (!printed.includes("token=") || !printed.includes("\n")) await once(child.stdout, "data");
  const address = printed.match(/http:\S+/)[0];
  // Scripts of the page are checked by its policy; only axe-core needs a way around it.
  const context = await browser.newContext({ viewport: { width: options.width ?? 1440, height: 900 }, colorScheme: options.scheme ?? "light", bypassCSP: false });
  const page = await context.newPage();
  const problems = [];
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("console", (message) => message.type() === "error" && !/status of 4\d\d/.test(message.text()) && problems.push(message.text()));
  page.on("request", (request) => !request.url().startsWith(new URL(address).origin) && problems.push(`a request to ${request.url()}`));
  await page.goto(address);
  await page.waitForURL(new URL("/", address).href);
  const end = async () => {
    await context.close();
    child.kill();
    if (!options.keep) rmSync(folder, { recursive: true, force: true });
    assert.deepEqual(problems, []);
  };
  return { page, folder, child, end, address, context };
}

/** Fails on anything that axe-core finds, and on a page that is wider than its window. */
async function accessible(page) {
  const found = await page.evaluate(`${axe}; axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] })`);
  const words = found.violations.map((v) => `${v.id}: ${v.help} (${v.nodes.map((n) => n.target.join(" ")).slice(0, 3).join("; ")})`);
  assert.deepEqual(words, [], `${page.url()}`);
  const wide = await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
  assert.ok(wide <= 0, `${page.url()} is ${wide} px wider than its window`);
}

/** The heading of the page that work leads to. */
async function arrive(page, heading) {
  await page.getByRole("heading", { level: 1, name: heading, exact: true }).waitFor({ timeout: 60_000 });
}

async function picture(page, name) {
  await page.screenshot({ path: join(pictures, `studio-${name}.png`), fullPage: false });
}

test("from an empty page to a verified release, then tampered with and refused", async () => {
  const { page, folder, end } = await studio();
  await accessible(page);
  await picture(page, "start");
  await page.getByRole("button", { name: "Open the demo hospital" }).click();
  await arrive(page, "Columns");
  await accessible(page);
  await picture(page, "columns");

  // A choice is saved as soon as it is made, and can be undone.
  const row = page.locator("li", { has: page.locator("h3 code", { hasText: /^ward$/ }) });
  await row.getByLabel("Role").selectOption("other");
  await row.getByLabel("Reason").fill("not known outside the hospital");
  await row.getByLabel("Reason").press("Tab");
  await page.getByText("What changed in the policy").waitFor();
  assert.match(readFileSync(join(folder, "policy.toml"), "utf8"), /reason = "not known outside the hospital"/);
  await accessible(page);

  await page.getByRole("link", { name: "Risk", exact: true }).first().click();
  await page.getByRole("button", { name: "Measure the risk" }).click();
  await arrive(page, "Risk");
  await accessible(page);
  await picture(page, "risk");
  await page.getByLabel("At least this many people").fill("5");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Saved.").waitFor();

  await page.getByRole("link", { name: "Hierarchies" }).first().click();
  await arrive(page, "Hierarchies");
  await accessible(page);
  await picture(page, "hierarchies");
  await page.getByRole("link", { name: /Change the hierarchy of age/ }).click();
  await arrive(page, "Hierarchy of a column");
  await accessible(page);

  await page.getByRole("link", { name: "Explore" }).click();
  await page.getByRole("button", { name: "Try them" }).click();
  await arrive(page, "Explore");
  await page.getByRole("button", { name: /^Choose/ }).first().waitFor();
  await accessible(page);
  await picture(page, "explore");
  await page.getByRole("button", { name: /^Look closer/ }).nth(1).click();
  await arrive(page, "A setting");
  await accessible(page);

  await page.getByRole("link", { name: "Release", exact: true }).first().click();
  await page.getByRole("button", { name: "Make the release" }).click();
  await page.getByText("Released and verified").waitFor({ timeout: 60_000 });
  await accessible(page);
  await picture(page, "release");
  await page.getByRole("button", { name: "Make a key and sign it" }).click();
  await page.getByText("The certificate is signed").waitFor({ timeout: 60_000 });
  const [report] = await Promise.all([page.context().waitForEvent("page"), page.getByRole("link", { name: "Open the report" }).click()]);
  await report.getByText("Release report").first().waitFor({ state: "attached" });
  await report.close();
  const [download] = await Promise.all([page.waitForEvent("download", { timeout: 60_000 }), page.getByRole("button", { name: /Pack as one archive/ }).click()]);
  assert.equal(download.suggestedFilename(), "policy-release.tar.gz");

  await page.goto(new URL("/verify", page.url()).href);
  await page.getByLabel("Compare it with the original").check();
  await page.getByRole("button", { name: "Verify", exact: true }).click();
  await page.getByText("Compared with the original data").waitFor({ timeout: 60_000 });
  await accessible(page);
  await picture(page, "verify");
  const data = join(folder, "policy-release/release/data.csv");
  writeFileSync(data, readFileSync(data, "utf8").replace(/\n[^\n]*\n$/, "\n"));
  await page.getByRole("combobox", { name: "Release" }).selectOption("policy-release");
  await page.getByRole("button", { name: "Verify", exact: true }).click();
  await page.getByText("Refused").waitFor({ timeout: 60_000 });
  await accessible(page);
  await page.getByRole("link", { name: "Policy", exact: true }).click();
  await arrive(page, "Policy and history");
  await accessible(page);
  await picture(page, "policy");
  await end();
});

test("keyboard alone suffices", async () => {
  const { page, end } = await studio();
  const press = async (name) => {
    for (let i = 0; i < 200; i++) {
      await page.keyboard.press("Tab");
      const focused = await page.evaluate("document.activeElement?.innerText ?? ''");
      if (focused.trim() === name) return page.keyboard.press("Enter");
    }
    assert.fail(`${name} cannot be reached with the keyboard`);
  };
  await press("Open the demo hospital");
  await arrive(page, "Columns");
  await press("Risk");
  await arrive(page, "Risk");
  await page.getByLabel("At least this many people").focus();
  await page.keyboard.type("5");
  await page.keyboard.press("Enter");
  await page.getByText("Saved.").waitFor();
  await press("Release");
  await arrive(page, "Release");
  await press("Make the release");
  await page.getByText("Released and verified").waitFor({ timeout: 60_000 });
  await end();
});

for (const [width, scheme] of [[360, "light"], [360, "dark"], [1440, "dark"]]) {
  test(`every page at ${width} px, ${scheme}`, async () => {
    const { page, end } = await studio({ width, scheme });
    await page.getByRole("button", { name: "Open the demo hospital" }).click();
    await arrive(page, "Columns");
    await page.goto(new URL("/risk", page.url()).href);
    await page.getByRole("button", { name: "Measure the risk" }).click();
    await arrive(page, "Risk");
    for (const path of ["/", "/columns", "/hierarchies", "/hierarchy/4", "/codes", "/risk", "/explore", "/release", "/verify", "/policy", "/nothing"]) {
      await page.goto(new URL(path, page.url()).href);
      await accessible(page);
      if (["/", "/columns", "/risk"].includes(path)) await picture(page, `${path.slice(1) || "start"}-${width}-${scheme}`);
    }
    await end();
  });
}

test("a dropped table, a reload and a kill in the middle lose nothing", async () => {
  const { page, folder, child, end, context } = await studio({ keep: true });
  const rows = Array.from({ length: 400 }, (_, i) => `${20 + (i % 50)},${i % 2 ? "F" : "M"},${["flu", "asthma", "angina"][i % 3]}`);
  await page.locator("#pick").setInputFiles({ name: "small.csv", mimeType: "text/csv", buffer: Buffer.from(`age,sex,diagnosis\n${rows.join("\n")}\n`) });
  await arrive(page, "Columns");
  await page.getByText("400 rows").waitFor();
  await page.locator("select").first().selectOption("identifier");
  await page.getByText("Saved.").waitFor();
  const saved = readFileSync(join(folder, "policy.toml"), "utf8");
  await page.reload();
  await page.getByText("400 rows").waitFor();
  child.kill("SIGKILL");
  await context.close();
  const again = await studio({ folder });
  await again.page.getByRole("button", { name: "policy.toml" }).click();
  await arrive(again.page, "Columns");
  assert.equal(readFileSync(join(folder, "policy.toml"), "utf8"), saved);
  await again.page.goto(new URL("/policy", again.page.url()).href);
  await again.page.getByText("Undo the last change").click();
  await again.page.getByText("Do it again").waitFor();
  await again.end();
});

test("forms work without script", async () => {
  const { address, end, child, folder } = await studio();
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  child.stdin.write("\n");
  const fresh = (await once(child.stdout, "data"))[0].toString().match(/http:\S+/)[0];
  assert.notEqual(fresh, address);
  await page.goto(fresh);
  await page.getByRole("button", { name: "Open the demo hospital" }).click();
  await page.getByRole("heading", { level: 1, name: "Columns" }).waitFor({ timeout: 60_000 });
  const row = page.locator("li", { has: page.locator("h3 code", { hasText: /^ward$/ }) });
  await row.getByLabel("Role").selectOption("identifier");
  await row.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved.").waitFor();
  assert.match(readFileSync(join(folder, "policy.toml"), "utf8"), /ward\s*= \{ role = "identifier"/);
  await context.close();
  await end();
});
