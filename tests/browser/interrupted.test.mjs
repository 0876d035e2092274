// Reload, cancel, kill, a second window, an editor, a second studio, a full disk: nothing is lost.

import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { accessible, arrive, close, patients, serve, studio } from "./helper.mjs";

after(close);

/** A policy for a table whose release takes a while. */
async function slow(page, folder, go) {
  await page.locator("#pick").setInputFiles({ name: "table.csv", mimeType: "text/csv", buffer: Buffer.from(patients(60_000, 6000)) });
  await arrive(page, "Columns");
  await page.getByText("60,000 rows").waitFor();
  await go("/risk");
  await page.getByLabel("at least this many people").fill("5");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Saved.").waitFor();
  return readFileSync(join(folder, "policy.toml"), "utf8");
}

const unfinished = (folder) => readdirSync(folder).filter((name) => /release|\.kohort-\d/.test(name));

test("cancel, reload and kill in the middle of a release", async () => {
  const { page, folder, child, go, context } = await studio({ keep: true, threads: 1 });
  const saved = await slow(page, folder, go);
  const start = async (page) => {
    await page.getByRole("link", { name: "Release", exact: true }).first().click();
    await page.getByRole("button", { name: "Make the release" }).click();
    await page.locator("progress").waitFor();
  };
  await start(page);
  await page.reload();
  await page.locator("progress").waitFor();
  const asked = performance.now();
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.getByText("Cancelled. Nothing was published.").waitFor();
  assert.ok(performance.now() - asked < 5000, "it ends soon, whatever it was doing");
  await accessible(page);
  assert.deepEqual(unfinished(folder), []);

  await go("/release");
  await start(page);
  child.kill("SIGKILL");
  await page.getByText("The studio does not answer").waitFor();
  await context.close();
  assert.ok(!existsSync(join(folder, "policy-release")));
  const again = await studio({ folder });
  // It goes on where it was.
  await again.page.getByRole("link", { name: "Go on with policy.toml" }).click();
  await arrive(again.page, "Columns");
  assert.equal(readFileSync(join(folder, "policy.toml"), "utf8"), saved);
  await start(again.page);
  await again.page.getByText("Released and verified").waitFor({ timeout: 120_000 });
  assert.deepEqual(unfinished(folder), ["policy-release"], "the next run removes what the killed one left");
  await again.go("/policy");
  await again.page.getByText("Undo the last change").click();
  await again.page.getByText("Do it again").waitFor();
  await again.end();
});

test("two windows and an editor: changes are merged, or asked about", async () => {
  const { page, folder, context, address, end } = await studio();
  await page.getByRole("button", { name: "Open the demo hospital" }).click();
  await arrive(page, "Columns");
  const other = await context.newPage();
  await other.goto(new URL("/columns", address).href);
  const role = (page, name) => page.locator("li", { has: page.locator("h3 code", { hasText: new RegExp(`^${name}$`) }) }).getByLabel("Role");
  await role(page, "ward").selectOption("identifier");
  await page.getByText("Saved.").waitFor();
  // Another column: merged.
  await role(other, "sex").selectOption("sensitive");
  await other.getByText("Saved.").waitFor();
  const text = () => readFileSync(join(folder, "policy.toml"), "utf8");
  assert.match(text(), /ward\s*= \{ role = "identifier"/);
  assert.match(text(), /sex\s*= \{ role = "sensitive"/);
  // The same column, changed by hand meanwhile: asked.
  await page.reload();
  writeFileSync(join(folder, "policy.toml"), text().replace(/(ward\s*= \{ role = )"identifier"/, '$1"quasi"'));
  await role(page, "ward").selectOption("sensitive");
  await arrive(page, "The policy was changed meanwhile");
  await accessible(page);
  assert.match(text(), /ward\s*= \{ role = "quasi"/, "nothing was overwritten");
  await page.getByRole("button", { name: "Use my change" }).click();
  await arrive(page, "Columns");
  assert.match(text(), /ward\s*= \{ role = "sensitive"/);
  // A policy that an editor broke is explained, and can be repaired on the page.
  writeFileSync(join(folder, "policy.toml"), text().replace("[columns]", "[columns"));
  await page.reload();
  await page.getByRole("alert").getByText("line").waitFor();
  await accessible(page);
  await page.getByRole("link", { name: "the policy" }).click();
  await page.getByRole("button", { name: "Undo the last change" }).click();
  await arrive(page, "Policy and history");
  await page.getByRole("link", { name: "Columns" }).click();
  await arrive(page, "Columns");
  await end();
});

test("a second studio in the folder only shows, and a port in use is named", async () => {
  const first = await studio();
  await first.page.getByRole("button", { name: "Open the demo hospital" }).click();
  await arrive(first.page, "Columns");
  const second = await studio({ folder: first.folder, keep: true });
  await second.page.getByText("Another studio is working in this folder").waitFor();
  await accessible(second.page);
  await second.page.getByRole("button", { name: "Open the demo hospital" }).click();
  await second.page.getByRole("alert").getByText("another studio", { exact: false }).waitFor();
  await second.end();
  const port = new URL(first.address).port;
  const taken = await serve(mkdtempSync(join(tmpdir(), "studio-")), { options: ["--port", port] });
  assert.equal(taken.address, null);
  assert.match(taken.said(), /port \d+ cannot be used/);
  await first.end();
});

test("a full disk ends in words, and the work so far is kept", async () => {
  const folder = mkdtempSync(join(tmpdir(), "studio-"));
  writeFileSync(join(folder, "table.csv"), patients(3000));
  const free = await studio({ folder, keep: true });
  await free.page.getByLabel("table.csv").check();
  await free.page.getByRole("button", { name: "Look at the data" }).click();
  await arrive(free.page, "Columns");
  await free.go("/risk");
  await free.page.getByLabel("at least this many people").fill("3");
  await free.page.getByRole("button", { name: "Save", exact: true }).click();
  await free.page.getByText("Saved.").waitFor();
  await free.end();
  const saved = readFileSync(join(folder, "policy.toml"), "utf8");
  // A limit on the size of files stands for a full disk: small files can be written, a release cannot.
  const full = await studio({ folder, keep: true, limit: "trap '' XFSZ; ulimit -f 16" });
  await full.go("/release");
  await full.page.getByRole("button", { name: "Make the release" }).click();
  await full.page.getByText("This did not work.").waitFor();
  await accessible(full.page);
  assert.ok(!existsSync(join(folder, "policy-release")));
  await full.go("/");
  await full.page.locator("#pick").setInputFiles({ name: "large.csv", mimeType: "text/csv", buffer: Buffer.from(patients(5000)) });
  await full.page.locator(".drop [role=status]", { hasText: /./ }).getByText(/file/i).waitFor();
  assert.ok(!existsSync(join(folder, "large.csv")), "half a file is not kept");
  await full.end();
  const none = await studio({ folder, limit: "trap '' XFSZ; ulimit -f 0" });
  await none.go("/columns");
  await none.page.locator("select").first().selectOption("identifier");
  await none.page.locator("form [role=alert]").waitFor();
  assert.equal(readFileSync(join(folder, "policy.toml"), "utf8"), saved, "the policy is as it was");
  await none.end();
});
