// Other data than the demo: an Excel file, three linked tables, a table that is not one, one that changes.

import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { accessible, arrive, close, drop, excel, linked, patients, random, studio } from "./helper.mjs";

after(close);

/** Measures the risk, asks for k and makes a release. */
async function release(page, go, k) {
  await go("/risk");
  // Counting the levels of the hierarchies measures the risk too.
  const measure = page.getByRole("button", { name: "Measure the risk" });
  if (await measure.count()) await measure.click();
  await arrive(page, "Risk");
  await accessible(page);
  await page.getByLabel("at least this many people").fill(k);
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Saved.").waitFor();
  await go("/release");
  await page.getByRole("button", { name: "Make the release" }).click();
  await page.getByText("Released and verified").waitFor();
  await accessible(page);
}

test("an Excel file becomes a release", async () => {
  const { page, folder, go, end } = await studio();
  const row = (i) => [`Name ${i}`, 20 + random(i + 1, 60), i % 2 ? "F" : "M", ["north", "south"][random(i + 2, 2)], ["I10", "E11.9", "J18.9"][random(i + 3, 3)]];
  const book = excel([["name", "age", "sex", "region", "diagnosis"], ...Array.from({ length: 300 }, (_, i) => row(i))]);
  await page.locator("#pick").setInputFiles({ name: "Study 7.xlsx", mimeType: "application/vnd.ms-excel", buffer: book });
  await arrive(page, "Columns");
  await page.getByText("300 rows").waitFor();
  await accessible(page);
  await release(page, go, "5");
  const released = readFileSync(join(folder, "policy-release/release/data.csv"), "utf8");
  assert.ok(!released.includes("Name 7"), "names are removed");
  await end();
});

test("a table is dropped, and a release as a folder", async () => {
  const { page, folder, go, end } = await studio();
  await drop(page, "[data-drop=table]", { "dropped.csv": patients(300, 4) });
  await arrive(page, "Columns");
  await page.getByText("300 rows").waitFor();
  assert.ok(existsSync(join(folder, "dropped.csv")));
  await release(page, go, "3");
  const files = Object.fromEntries(readdirSync(join(folder, "policy-release/release")).map((name) => [`given/release/${name}`, readFileSync(join(folder, "policy-release/release", name))]));
  await go("/verify");
  await drop(page, "[data-drop=release]", files);
  await page.locator(".stamp", { hasText: "Verified" }).waitFor();
  assert.ok(existsSync(join(folder, "given/release/data.csv")), "the folder that was dropped is in the studio's folder");
  // A file that misses the box does not replace the page.
  await go("/");
  await page.locator("h1").dispatchEvent("drop", { dataTransfer: await page.evaluateHandle(() => new DataTransfer()) });
  await page.getByRole("heading", { level: 1, name: "Start" }).waitFor();
  await end();
});

test("three linked tables become a release", async () => {
  const { page, folder, go, end } = await studio();
  const files = Object.entries(linked(400)).map(([name, text]) => ({ name, mimeType: "text/csv", buffer: Buffer.from(text) }));
  await page.locator("#pick").setInputFiles(files);
  await arrive(page, "Columns");
  await page.getByText("400 rows in patients").waitFor();
  await accessible(page);
  const policy = readFileSync(join(folder, "policy.toml"), "utf8");
  for (const name of ["patients.csv", "visits.csv", "drugs.csv"]) assert.ok(policy.includes(name), name);
  // Every column of all three tables has its profile and its suggestion.
  assert.equal(await page.locator(".columns > li .facts-line").count(), await page.locator(".columns > li").count());
  await go("/hierarchies");
  await page.getByRole("button", { name: "Count the levels" }).click();
  await arrive(page, "Hierarchies");
  await page.getByText("Patients alone with their label").first().waitFor();
  await accessible(page);
  await release(page, go, "3");
  await end();
});

test("bad files end in words, and nothing is lost", async () => {
  const { page, folder, go, end } = await studio();
  const drop = (name, bytes) => page.locator("#pick").setInputFiles({ name, mimeType: "application/octet-stream", buffer: Buffer.from(bytes) });
  for (const [name, bytes] of [["picture.csv", "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0"], ["empty.csv", ""], ["broken.xlsx", "PK\x03\x04 nothing"]]) {
    await go("/");
    await drop(name, bytes);
    await page.getByText("This did not work.").waitFor();
    await accessible(page);
  }
  await go("/");
  await drop("table.csv", patients(500));
  await arrive(page, "Columns");
  // The table changes while it is open.
  writeFileSync(join(folder, "table.csv"), patients(120));
  await page.reload();
  await page.getByText("A table has changed since it was counted").waitFor();
  await accessible(page);
  await page.getByRole("button", { name: "Count it again" }).click();
  await page.getByText("120 rows").waitFor();
  assert.ok(existsSync(join(folder, "policy.toml")));
  // A column that the policy does not name, and a table that is gone.
  writeFileSync(join(folder, "table.csv"), patients(120).replaceAll(/$/gm, ",x").replace("diagnosis,x", "diagnosis,extra"));
  await go("/release");
  await page.getByRole("button", { name: "Make the release" }).click();
  await page.getByRole("alert").first().waitFor();
  await accessible(page);
  await end();
});

test("an awkward table: several columns at once, a policy dropped on the start page", async () => {
  const { page, folder, go, end } = await studio();
  const row = (i) => [`P-${i >> 1}`, `${1 + random(i, 28)}.${1 + random(i + 2, 12)}.19${40 + random(i + 4, 50)}`, `${45 + random(i + 5, 60)},5`, ["I10.90", "E11.9", "k.A."][random(i + 6, 3)], `"Text; mit ""Zeichen"" ${random(i + 1, 3)}"`, "", random(i + 8, 40)].join(";");
  const header = 'Pat.-Nr.;Geb.datum;"Gewicht ""kg""";<b>Diagnose</b>;"Notiz; frei";leer;Größe_$(x)';
  const table = Buffer.from(`${header}\r\n${Array.from({ length: 400 }, (_, i) => row(i)).join("\r\n")}\r\n`, "latin1");
  await page.locator("#pick").setInputFiles({ name: "Krankenhaus Daten (Kopie).csv", mimeType: "text/csv", buffer: table });
  await arrive(page, "Columns");
  await page.getByText("400 rows, 7 columns").waitFor();
  await page.getByText("kohort init 'Krankenhaus Daten (Kopie).csv' -o policy.toml").waitFor();
  assert.equal(await page.getByText("kohort init --ask").count(), 0, "warnings are in the words of the page");
  const before = readFileSync(join(folder, "policy.toml"), "utf8");
  for (const name of ["Notiz; frei", "Größe_$(x)", 'Gewicht "kg"']) await page.getByRole("checkbox", { name }).check();
  const form = page.locator("form.several");
  await accessible(page);
  await form.getByLabel("Role").selectOption("identifier");
  await form.getByRole("button", { name: "Change them" }).click();
  await page.getByText("Saved.").waitFor();
  const policy = readFileSync(join(folder, "policy.toml"), "utf8");
  for (const name of ['"Notiz; frei"', '"Größe_$(x)"', '"Gewicht \\"kg\\""']) {
    assert.ok(policy.split("\n").some((line) => line.startsWith(name) && line.includes('role = "identifier"')), name);
  }
  assert.ok(!(await form.isVisible()), "nothing is ticked any more");
  await page.getByRole("button", { name: "Undo" }).click();
  await arrive(page, "Policy and history");
  assert.equal(readFileSync(join(folder, "policy.toml"), "utf8"), before, "one undo takes all of them back");
  // A policy from elsewhere, with its table.
  await go("/");
  await drop(page, "[data-drop=table]", { "theirs.csv": patients(200, 4), "theirs.toml": '[input]\ntable = "theirs.csv"\n[columns]\nage = { role = "quasi" }\nsex = { role = "quasi" }\npostcode = { role = "identifier" }\ndiagnosis = { role = "sensitive" }\n[privacy]\nk = 3\n[method]\nname = "lattice"\nmax_suppressed = 0.1\n' });
  await arrive(page, "Columns");
  await page.getByText("200 rows").waitFor();
  await page.locator(".file", { hasText: "theirs.toml" }).waitFor();
  await end();
});
