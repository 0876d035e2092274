// The numbers of the studio, measured in Chromium with a release build. Not a test: it prints, and fails on nothing.
//   KOHORT=target/release/kohort node tests/browser/numbers.mjs [ROWS [wide]]
// With `wide`, only the table of 300 columns is measured.
// KOHORT_DATA names the folder with the Adult table; without it, the numbers of the frontier and of memory are left out.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { arrive, close, random, studio } from "./helper.mjs";

const ROWS = Number(process.argv[2] ?? 1_000_000), COLUMNS = 300;
const median = (numbers) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)];
const since = (start) => Math.round(performance.now() - start);
/** The most memory that a process had, in MB. */
const peak = (pid) => Math.round(Number(readFileSync(`/proc/${pid}/status`, "utf8").match(/VmHWM:\s+(\d+)/)[1]) / 1024);
/** Milliseconds until a page is loaded, drawn and its script has run. */
const loaded = (page) => page.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd");

/** The most memory that a command had, in MB, and its seconds. */
async function command(args, folder) {
  const start = performance.now();
  const child = spawn("bash", ["-c", 'exec "$@"', "x", process.env.KOHORT, ...args], { cwd: folder, stdio: "ignore" });
  let most = 0;
  const look = setInterval(() => { try { most = Math.max(most, peak(child.pid)); } catch {} }, 5);
  await once(child, "exit");
  clearInterval(look);
  return { most, seconds: since(start) / 1000 };
}

async function firstPage() {
  const { page, go, end } = await studio();
  const times = [];
  for (let i = 0; i < 15; i++) {
    await go("/");
    times.push(await loaded(page));
  }
  await end();
  console.log(`first page: ${median(times).toFixed(0)} ms until it is loaded, median of 15 (aim 100)`);
}

async function frontier(data) {
  const folder = mkdtempSync(join(tmpdir(), "studio-"));
  writeFileSync(join(folder, "adult.csv"), gunzipSync(readFileSync(data)));
  const { page, go, end, child } = await studio({ folder });
  await page.getByLabel("adult.csv").check();
  await page.getByRole("button", { name: "Look at the data" }).click();
  await arrive(page, "Columns");
  await go("/risk");
  await page.getByLabel("at least this many people").fill("5");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Saved.").waitFor();
  await go("/explore");
  // local at 12 values of k, and lattice at 4 of them with three limits: 24 settings.
  for (const [k, methods, suppressed] of [["2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30", ["local", "lattice"], "0.01"], ["3, 5, 10, 20", ["lattice"], "0, 0.01, 0.02, 0.03, 0.05, 0.1"]]) {
    await go("/explore");
    await page.getByLabel("Values of k").fill(k);
    await page.getByLabel("Share of records").fill(suppressed);
    await page.evaluate((methods) => document.querySelectorAll("input[name=method]").forEach((box) => (box.checked = methods.includes(box.value))), methods);
    const start = performance.now();
    await page.getByRole("button", { name: "Try them" }).click();
    await arrive(page, "Explore");
    await page.getByRole("button", { name: /^Choose/ }).first().waitFor();
    const settings = await page.locator("[id^=look-]").count();
    console.log(`frontier of ${settings} settings on Adult (${methods.join(", ")}): ${(since(start) / 1000).toFixed(1)} s (aim 10 s for 24)`);
  }
  await end();
}

async function memory(data) {
  const folder = mkdtempSync(join(tmpdir(), "studio-"));
  writeFileSync(join(folder, "adult.csv"), gunzipSync(readFileSync(data)));
  const { page, go, end, child } = await studio({ folder, keep: true });
  const idle = peak(child.pid);
  await page.getByLabel("adult.csv").check();
  await page.getByRole("button", { name: "Look at the data" }).click();
  await arrive(page, "Columns");
  await go("/risk");
  await page.getByLabel("at least this many people").fill("5");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Saved.").waitFor();
  await go("/release");
  await page.getByRole("button", { name: "Make the release" }).click();
  await page.getByText("Released and verified").waitFor();
  const here = peak(child.pid);
  await end();
  const there = await command(["anonymize", "policy.toml", "-o", "out"], folder);
  rmSync(folder, { recursive: true, force: true });
  console.log(`memory, Adult from a file to a release: studio ${here} MB (${idle} MB when it starts), command line ${there.most} MB: ${here - there.most} MB above (aim 20)`);
}

async function wide() {
  const folder = mkdtempSync(join(tmpdir(), "studio-"));
  const out = createWriteStream(join(folder, "wide.csv"));
  const names = Array.from({ length: COLUMNS }, (_, c) => (c === 0 ? "patient_id" : c === 1 ? "age" : c === 2 ? "sex" : `item_${c}`));
  out.write(`${names.join(",")}\n`);
  // A block of rows that repeats: what counts is the size.
  const block = Array.from({ length: 2000 }, (_, r) => names.map((_, c) => (c === 1 ? 18 + random(r + 1, 80) : c === 2 ? (r % 2 ? "F" : "M") : random(r * 7 + c, 2 + (c % 90)))).slice(1).join(","));
  for (let r = 0; r < ROWS; r += 2000) {
    const text = block.slice(0, Math.min(2000, ROWS - r)).map((row, i) => `${r + i},${row}\n`).join("");
    if (!out.write(text)) await once(out, "drain");
  }
  out.end();
  await once(out, "finish");
  const { page, go, end, child } = await studio({ folder, keep: true });
  let start = performance.now();
  page.setDefaultTimeout(3_600_000);
  await page.getByLabel("wide.csv").check();
  await page.getByRole("button", { name: "Look at the data" }).click();
  await page.getByRole("heading", { level: 1, name: "Columns", exact: true }).waitFor({ timeout: 3_600_000 });
  console.log(`${COLUMNS} columns, ${ROWS} rows: counted in ${(since(start) / 1000).toFixed(0)} s`);
  const times = [], answers = [];
  for (let i = 0; i < 5; i++) {
    await go("/columns");
    times.push(await loaded(page));
    // Interactive: a choice is made, and the page says that it is saved.
    start = performance.now();
    const role = page.locator("#role-7");
    await role.selectOption((await role.inputValue()) === "quasi" ? "identifier" : "quasi");
    await page.getByText("Saved.").waitFor();
    answers.push(since(start));
  }
  console.log(`columns page: loaded in ${median(times).toFixed(0)} ms, a choice is saved and shown after ${median(answers)} ms more, medians of 5 (aim 2000 together)`);
  const here = peak(child.pid);
  await end();
  const there = await command(["init", "wide.csv", "-o", "again.toml"], folder);
  rmSync(folder, { recursive: true, force: true });
  console.log(`memory, ${COLUMNS} columns and ${ROWS} rows: studio ${here} MB, kohort init ${there.most} MB: ${here - there.most} MB above (aim 20)`);
}

const onlyWide = process.argv[3] === "wide";
if (!onlyWide) await firstPage();
const adult = join(process.env.KOHORT_DATA ?? "", "adult_arx/adult.csv.gz");
if (!onlyWide && existsSync(adult)) {
  await frontier(adult);
  await memory(adult);
}
await wide();
await close();
process.exit(0);
