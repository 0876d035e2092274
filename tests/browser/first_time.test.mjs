// The first-time path on the demo's hospital: from an empty page to a signed release, by mouse, by keyboard, without script.

import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { accessible, arrive, close, launch, picture, studio } from "./helper.mjs";

after(close);

test("from an empty page to a signed release, then tampered with and refused", async () => {
  const { page, folder, go, end } = await studio();
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
  await page.getByLabel("at least this many people").fill("5");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Saved.").waitFor();

  await page.getByRole("link", { name: "Explore" }).first().click();
  await page.getByLabel("Values of k").fill("3, 4, 5, 8, 12, 20");
  await page.getByRole("button", { name: "Try them" }).click();
  await page.getByText(/\d+ of \d+ settings so far/).waitFor();
  await page.getByText(/about .* left for this step/).waitFor();
  await accessible(page);
  await arrive(page, "Explore");
  await page.getByRole("button", { name: /^Choose/ }).first().waitFor();
  await accessible(page);
  await picture(page, "explore", page.locator("section.wide", { has: page.locator("figure") }).locator("figure").first());
  // A click on a dot shows the setting: distributions, levels, who is suppressed, and records side by side.
  await page.locator("a.dot-link").last().click();
  await arrive(page, "A setting");
  await page.getByRole("heading", { name: "Who is suppressed" }).waitFor();
  await page.getByRole("heading", { name: "How values are distributed, before and after" }).waitFor();
  await page.getByText("Show some records").click();
  await page.getByRole("rowheader", { name: "1, released" }).waitFor();
  await accessible(page);
  await picture(page, "setting");

  await page.getByRole("link", { name: "Release", exact: true }).first().click();
  await page.getByRole("button", { name: "Make the release" }).click();
  await page.getByText("Released and verified").waitFor();
  await accessible(page);
  await page.getByRole("button", { name: "Make a key and sign it" }).click();
  await page.getByText("it is signed").waitFor();
  await picture(page, "release");
  const [report] = await Promise.all([page.context().waitForEvent("page"), page.getByRole("link", { name: "Open the report" }).click()]);
  await report.getByText("Release report").first().waitFor({ state: "attached" });
  await report.close();
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Download as one archive" }).click()]);
  assert.equal(download.suggestedFilename(), "policy-release.tar.gz");
  const archive = readFileSync(await download.path());
  await go("/release");
  await page.getByRole("button", { name: "Show in folder" }).click();
  await page.locator(".note").getByText(/policy-release.release|another window/).waitFor();

  // The archive is dropped on the page, and a folder is chosen; both are verified.
  await go("/verify");
  await page.locator("#pick").setInputFiles({ name: "received.tar.gz", mimeType: "application/gzip", buffer: archive });
  await page.locator(".stamp", { hasText: "Verified" }).waitFor();
  await page.locator("#pick-folder").setInputFiles(join(folder, "policy-release"));
  await page.locator(".verdict", { hasText: "policy-release-2" }).waitFor();
  await page.getByLabel("Compare it with the original").check();
  await page.getByLabel("Try published attacks").check();
  await page.getByRole("combobox", { name: "Release" }).selectOption("policy-release");
  await page.getByRole("button", { name: "Verify", exact: true }).click();
  await page.getByText("Compared with the original data").waitFor();
  await page.getByRole("heading", { name: "Attacks" }).waitFor();
  await accessible(page);
  await picture(page, "verify");

  // Tampered with, it is refused, and the page of the release does not call it verified any more.
  const data = join(folder, "policy-release/release/data.csv");
  writeFileSync(data, readFileSync(data, "utf8").replace(/\n[^\n]*\n$/, "\n"));
  await page.getByRole("combobox", { name: "Release" }).selectOption("policy-release");
  await page.getByRole("button", { name: "Verify", exact: true }).click();
  await page.getByText("Refused", { exact: true }).first().waitFor();
  await accessible(page);
  await picture(page, "refused");
  await go("/release");
  await page.getByText("verify it again before you hand it over").waitFor();
  await accessible(page);

  await page.getByRole("link", { name: "Policy", exact: true }).click();
  await arrive(page, "Policy and history");
  await accessible(page);
  await picture(page, "policy");
  await end();
});

test("keyboard alone suffices", async () => {
  const { page, folder, end } = await studio();
  /** Goes on with Tab until this has the focus. */
  const reach = async (is, what) => {
    for (let i = 0; i < 300; i++) {
      await page.keyboard.press("Tab");
      if (await page.evaluate(is)) return;
    }
    assert.fail(`${what} cannot be reached with the keyboard`);
  };
  const press = async (name) => {
    await reach(`(document.activeElement?.innerText ?? "").trim() === ${JSON.stringify(name)}`, name);
    await page.keyboard.press("Enter");
  };
  const field = (id) => reach(`document.activeElement?.id === ${JSON.stringify(id)}`, id);
  await press("Open the demo hospital");
  await arrive(page, "Columns");
  const ward = await page.locator("li", { has: page.locator("h3 code", { hasText: /^ward$/ }) }).getByLabel("Role").getAttribute("id");
  await field(ward);
  await page.keyboard.press("Home");
  await page.getByText("Saved.").waitFor();
  assert.match(readFileSync(join(folder, "policy.toml"), "utf8"), /ward\s*= \{ role = "identifier"/);
  await press("Risk");
  await arrive(page, "Risk");
  await press("Measure the risk");
  await page.locator(".stamp", { hasText: "are unique" }).waitFor();
  await field("k");
  await page.keyboard.type("5");
  await page.keyboard.press("Enter");
  await page.getByText("Saved.").waitFor();
  await press("Release");
  await arrive(page, "Release");
  await press("Make the release");
  await page.getByText("Released and verified").waitFor();
  await press("Make a key and sign it");
  await page.getByText("it is signed").waitFor();
  await press("Verify it against the original");
  await page.getByText("Compared with the original data").waitFor();
  await press("Policy");
  await arrive(page, "Policy and history");
  await press("Undo the last change");
  await page.getByText("Do it again").waitFor();
  await end();
});

test("forms work without script, and a closed browser gets a new address", async () => {
  const { address, end, child, folder } = await studio();
  const context = await (await launch()).newContext({ javaScriptEnabled: false });
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
  // The address was used: it opens nothing any more.
  const stranger = await (await launch()).newContext();
  const other = await stranger.newPage();
  assert.equal((await other.goto(fresh)).status(), 401);
  assert.equal((await other.goto(new URL("/columns", fresh).href)).status(), 401);
  await stranger.close();
  await context.close();
  await end();
});
