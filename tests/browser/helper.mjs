// A studio in a real browser, and files for it.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { chromium } from "playwright-core";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const seen = new URL("pictures", import.meta.url).pathname;
/** The pictures of the manual; elsewhere unless they were asked for. */
const pictures = process.env.PICTURES ?? seen;
for (const folder of [seen, pictures]) mkdirSync(folder, { recursive: true });

let browser;
/** The browser of all tests. */
export const launch = async () => (browser ??= await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] }));
export const close = () => browser?.close();

/** Starts `kohort studio` and waits for its address. `limit` is a shell command that comes first. */
export async function serve(folder, { options = [], limit, threads } = {}) {
  const own = threads ? ["--threads", String(threads)] : [];
  const command = [process.env.KOHORT, ...own, "studio", folder, "--no-browser", ...options];
  const child = limit
    ? spawn("bash", ["-c", `${limit}; exec "$@"`, "studio", ...command], { stdio: ["pipe", "pipe", "pipe"] })
    : spawn(command[0], command.slice(1), { stdio: ["pipe", "pipe", "pipe"] });
  let printed = "", said = "";
  child.stdout.on("data", (data) => (printed += data));
  child.stderr.on("data", (data) => (said += data));
  const ended = once(child, "exit");
  while (!printed.includes("token=") || !printed.includes("\n")) {
    await Promise.race([once(child.stdout, "data"), ended]);
    if (child.exitCode !== null) return { child, said: () => said, address: null };
  }
  return { child, said: () => said, printed: () => printed, address: printed.match(/http:\S+/)[0] };
}

/** Starts a studio in a new folder, or in this one, and opens it in a window of its own. */
export async function studio(options = {}) {
  await launch();
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), "studio-"));
  const { child, address, said } = await serve(folder, options);
  // Pictures of the manual are narrower, so that their words can be read on a page.
  const usual = process.env.PICTURES ? [1080, 760] : [1440, 900];
  const viewport = { width: options.width ?? usual[0], height: options.height ?? usual[1] };
  // Without motion, so that no colour is measured while it changes.
  const looks = { colorScheme: options.scheme ?? "light", reducedMotion: "reduce" };
  const context = await browser.newContext({ viewport, ...looks, acceptDownloads: true });
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  const problems = [];
  // Whatever the page does, it stays on this computer and runs without an error.
  const watch = (page) => {
    page.on("pageerror", (error) => problems.push(String(error)));
    page.on("console", (message) => message.type() === "error" && !/status of [45]\d\d|ERR_CONNECTION/.test(message.text()) && problems.push(message.text()));
    page.on("request", (request) => !/^(blob:|data:)/.test(request.url()) && !request.url().startsWith(new URL(address).origin) && problems.push(`a request to ${request.url()}`));
  };
  context.on("page", watch);
  watch(page);
  await page.goto(address);
  await page.waitForURL(new URL("/", address).href);
  const go = (path) => page.goto(new URL(path, address).href);
  const end = async () => {
    await context.close();
    // Ctrl-C ends it, whatever it did before.
    child.kill("SIGINT");
    const late = setTimeout(() => child.kill("SIGKILL"), 10_000);
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    clearTimeout(late);
    assert.notEqual(child.signalCode, "SIGKILL", "the studio did not end");
    if (!options.keep) rmSync(folder, { recursive: true, force: true });
    assert.deepEqual(problems, []);
  };
  return { page, folder, child, end, address, context, go, said };
}

/** Fails on anything that axe-core finds, and on a page that is wider than its window. */
export async function accessible(page) {
  // What is outside the window is laid out too: colours of parts that were never drawn cannot be measured.
  await page.evaluate(() => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync("* { content-visibility: visible !important; }");
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
    return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  });
  const found = await page.evaluate(`${axe}; axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] })`);
  const node = (n) => `${n.target.join(" ")} ${JSON.stringify(n.any[0]?.data ?? "")}`;
  const words = found.violations.map((v) => `${v.id}: ${v.help} (${v.nodes.map(node).slice(0, 3).join("; ")})`);
  assert.deepEqual(words, [], `${page.url()}`);
  const wide = await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
  assert.ok(wide <= 0, `${page.url()} is ${wide} px wider than its window`);
}

/** Waits for the heading of the page that work leads to. */
export async function arrive(page, heading) {
  await page.getByRole("heading", { level: 1, name: heading, exact: true }).waitFor({ timeout: 120_000 });
}

/** A picture for the manual: of the window, or of one part of the page. */
export async function picture(page, name, part = page) {
  await page.evaluate("document.activeElement?.blur()");
  await part.screenshot({ path: join(pictures, `studio-${name}.png`) });
}

/** Drops files on a part of the page as a hand does: `files` has a text or bytes for each name, `a/b` is a folder with a file. */
export async function drop(page, selector, files) {
  const list = Object.entries(files).map(([name, content]) => [name, Buffer.from(content).toString("base64")]);
  const data = await page.evaluateHandle((list) => {
    const transfer = new DataTransfer();
    const entries = new Map();
    for (const [path, base64] of list) {
      const parts = path.split("/"), bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
      const file = new File([bytes], parts.at(-1));
      transfer.items.add(file);
      // Only a folder needs an entry of its own: a script cannot put one into a transfer.
      let level = entries;
      for (const folder of parts.slice(0, -1)) {
        if (!level.has(folder)) level.set(folder, new Map());
        level = level.get(folder);
      }
      level.set(parts.at(-1), file);
    }
    const entry = (name, inner) => inner instanceof File
      ? { name, isFile: true, file: (done) => done(inner) }
      : { name, isFile: false, createReader: () => {
        const some = [[...inner].map(([name, inner]) => entry(name, inner)), []];
        return { readEntries: (done) => done(some.shift() ?? []) };
      } };
    if (list.some(([path]) => path.includes("/"))) {
      const items = [...entries].map(([name, inner]) => ({ webkitGetAsEntry: () => entry(name, inner) }));
      Object.defineProperty(transfer, "items", { value: items });
    }
    return transfer;
  }, list);
  await page.locator(selector).dispatchEvent("dragover", { dataTransfer: data });
  await page.locator(selector).dispatchEvent("drop", { dataTransfer: data });
}

/** A picture of a whole page, to be looked at. */
export async function whole(page, name) {
  await page.screenshot({ path: join(seen, `${name}.png`), fullPage: true });
}

/** A number that depends on another in no visible way. */
export const random = (n, below) => ((n * 2654435761) >>> 7) % below;

/** A table of patients. The more postcodes, the fewer look the same. */
export function patients(rows, postcodes = 90) {
  const row = (i) => `${18 + random(i + 1, 70)},${i % 2 ? "F" : "M"},${10000 + 10 * random(i + 7, postcodes)},${["flu", "asthma", "angina", "gout"][random(i + 3, 4)]}`;
  return `age,sex,postcode,diagnosis\n${Array.from({ length: rows }, (_, i) => row(i)).join("\n")}\n`;
}

/** Three tables that a patient number links. */
export function linked(people) {
  const list = (header, rows, row) => `${header}\n${Array.from({ length: rows }, (_, i) => row(i)).join("\n")}\n`;
  return {
    "patients.csv": list("patient_id,birth_year,sex,region", people, (i) => `P${1000 + i},${1940 + random(i + 1, 65)},${i % 2 ? "F" : "M"},${["north", "south", "west"][random(i + 5, 3)]}`),
    "visits.csv": list("patient_id,year,diagnosis", people * 3, (i) => `P${1000 + random(i + 2, people)},${2018 + random(i + 9, 4)},${["I10", "E11.9", "J18.9", "K35.8"][random(i + 4, 4)]}`),
    "drugs.csv": list("patient_id,drug,days", people * 2, (i) => `P${1000 + random(i + 6, people)},${["aspirin", "insulin", "statin"][random(i + 8, 3)]},${[7, 14, 28][random(i + 1, 3)]}`),
  };
}

/** A file of Excel with one sheet. Cells are texts or numbers. */
export function excel(rows) {
  const letter = (c) => String.fromCharCode(65 + c);
  const text = (value) => String(value).replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  const cell = (value, r, c) => typeof value === "number"
    ? `<c r="${letter(c)}${r + 1}"><v>${value}</v></c>`
    : `<c r="${letter(c)}${r + 1}" t="inlineStr"><is><t>${text(value)}</t></is></c>`;
  const sheet = rows.map((row, r) => `<row r="${r + 1}">${row.map((value, c) => cell(value, r, c)).join("")}</row>`).join("");
  const main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
  const links = "http://schemas.openxmlformats.org/package/2006/relationships";
  const kinds = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
  const head = '<?xml version="1.0" encoding="UTF-8"?>';
  return zip({
    "[Content_Types].xml": `${head}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/></Types>`,
    "_rels/.rels": `${head}<Relationships xmlns="${links}"><Relationship Id="r1" Type="${kinds}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
    "xl/workbook.xml": `${head}<workbook xmlns="${main}" xmlns:r="${kinds}"><sheets><sheet name="Patients" sheetId="1" r:id="r1"/></sheets></workbook>`,
    "xl/_rels/workbook.xml.rels": `${head}<Relationships xmlns="${links}"><Relationship Id="r1" Type="${kinds}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>`,
    "xl/worksheets/sheet1.xml": `${head}<worksheet xmlns="${main}"><sheetData>${sheet}</sheetData></worksheet>`,
  });
}

/** A zip archive without compression. */
function zip(files) {
  const parts = [], index = [];
  let at = 0;
  for (const [name, content] of Object.entries(files)) {
    const bytes = Buffer.from(content), path = Buffer.from(name);
    const fields = Buffer.alloc(26);
    fields.writeUInt16LE(20, 0);
    fields.writeUInt32LE(crc32(bytes), 10);
    fields.writeUInt32LE(bytes.length, 14);
    fields.writeUInt32LE(bytes.length, 18);
    fields.writeUInt16LE(path.length, 22);
    const place = Buffer.alloc(14);
    place.writeUInt32LE(at, 10);
    parts.push(Buffer.from("PK\x03\x04"), fields, path, bytes);
    index.push(Buffer.from("PK\x01\x02"), Buffer.from([20, 0]), fields, place, path);
    at += 4 + fields.length + path.length + bytes.length;
  }
  const list = Buffer.concat(index), end = Buffer.alloc(18);
  end.writeUInt16LE(Object.keys(files).length, 4);
  end.writeUInt16LE(Object.keys(files).length, 6);
  end.writeUInt32LE(list.length, 8);
  end.writeUInt32LE(at, 12);
  return Buffer.concat([...parts, list, Buffer.from("PK\x05\x06"), end]);
}
