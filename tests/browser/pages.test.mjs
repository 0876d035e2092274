// Every page, narrow and wide, light and dark: no violation that axe-core knows, and nothing wider than the window.

import assert from "node:assert/strict";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { accessible, arrive, close, studio, whole } from "./helper.mjs";

/** A folder in which every step was done. */
let done;
before(async () => {
  const { page, folder, go, end } = await studio({ keep: true });
  done = folder;
  await page.getByRole("button", { name: "Open the demo hospital" }).click();
  await arrive(page, "Columns");
  await go("/risk");
  await page.getByLabel("at least this many people").fill("5");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Saved.").waitFor();
  await go("/explore");
  await page.getByRole("button", { name: "Try them" }).click();
  await arrive(page, "Explore");
  await page.getByRole("button", { name: /^Choose/ }).first().waitFor();
  await go("/release");
  await page.getByRole("button", { name: "Make the release" }).click();
  await page.getByText("Released and verified").waitFor();
  await end();
});
after(async () => {
  rmSync(done, { recursive: true, force: true });
  await close();
});

for (const width of [360, 1440]) {
  for (const scheme of ["light", "dark"]) {
    test(`every page at ${width} px, ${scheme}`, async () => {
      const folder = mkdtempSync(join(tmpdir(), "studio-"));
      cpSync(done, folder, { recursive: true });
      const { page, go, end, context, address } = await studio({ folder, width, scheme, height: width === 360 ? 740 : 900 });
      const look = async (name) => {
        await accessible(page);
        await whole(page, `${name}-${width}-${scheme}`);
      };
      await look("start");
      await go("/columns");
      await page.getByRole("button", { name: "Count the data" }).click();
      await page.getByText("2,000 rows").waitFor();
      await look("columns");
      await page.getByRole("button", { name: /^Show values/ }).first().click();
      await page.getByText("Values", { exact: true }).first().waitFor();
      await look("values");
      await go("/risk");
      await look("risk-before");
      await page.getByRole("button", { name: "Measure the risk" }).click();
      await page.locator(".stamp", { hasText: "are unique" }).waitFor();
      await look("risk");
      await go("/hierarchies");
      await look("hierarchies");
      const age = page.getByRole("link", { name: /Change how age becomes coarser/ });
      await age.click();
      await page.getByText("Cut points of your own").click();
      await page.getByLabel("Cut points", { exact: true }).fill("18, 40, 65");
      await page.getByLabel("Cut points", { exact: true }).press("Tab");
      await look("hierarchy");
      await go("/codes");
      await page.getByLabel("Word in a title").fill("diabetes");
      await page.getByRole("button", { name: "Search" }).click();
      await page.getByText("titles have this word").waitFor();
      await look("codes");
      await go("/explore");
      await look("explore");
      await page.getByRole("button", { name: /^Look closer/ }).first().click();
      await arrive(page, "A setting");
      await page.getByText("Show some records").click();
      await look("setting");
      await go("/release");
      await look("release");
      await page.getByRole("button", { name: "Verify it against the original" }).click();
      await page.getByText("Compared with the original data").waitFor();
      await look("verify");
      await go("/policy");
      await look("policy");
      await go("/nothing");
      await look("nothing");
      // The report is shown in a sandbox in which no script runs: the same document is looked at outside of it.
      await go("/report");
      const report = await page.content();
      await page.goto("about:blank");
      await page.setContent(report);
      await look("report");
      // A browser that the studio does not know.
      const stranger = await context.browser().newContext({ viewport: page.viewportSize(), colorScheme: scheme });
      const closed = await stranger.newPage();
      await closed.goto(new URL("/", address).href);
      await closed.getByText("press Enter in the terminal").waitFor();
      await accessible(closed);
      await stranger.close();
      await end();
    });
  }
}

test("on paper there is what was found, and nothing to press", async () => {
  const folder = mkdtempSync(join(tmpdir(), "studio-"));
  cpSync(done, folder, { recursive: true });
  const { page, go, end } = await studio({ folder, width: 800 });
  await page.emulateMedia({ media: "print" });
  for (const path of ["/release", "/explore", "/policy"]) {
    await go(path);
    await page.locator("h1").waitFor();
    const shown = await page.locator("button:visible, nav:visible, input:visible").count();
    assert.equal(shown, 0, `${path} prints ${shown} things to press`);
    await whole(page, `print${path.replace("/", "-")}`);
  }
  await end();
});
