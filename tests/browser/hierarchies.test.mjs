// Hierarchies in the browser: cut points dragged on a histogram, groups by selecting, files saved and loaded, codes by word.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { accessible, arrive, close, picture, studio } from "./helper.mjs";

after(close);

test("a hierarchy is seen, dragged, grouped, saved, loaded and undone", async () => {
  const { page, folder, go, end } = await studio();
  const policy = () => readFileSync(join(folder, "policy.toml"), "utf8");
  await page.getByRole("button", { name: "Open the demo hospital" }).click();
  await arrive(page, "Columns");
  await go("/hierarchies");
  await page.getByRole("button", { name: "Count the levels" }).click();
  await arrive(page, "Hierarchies");
  await page.locator(".strips").first().waitFor();
  await accessible(page);
  await picture(page, "hierarchies");

  // Cut points: typed, added, dragged, moved by key and removed.
  await page.getByRole("link", { name: /Change how age becomes coarser/ }).click();
  await arrive(page, "Hierarchy of a column");
  await page.getByText("Show the labels as a tree").click();
  await page.locator(".tree").first().waitFor();
  await page.getByText("Cut points of your own").click();
  const cuts = page.getByLabel("Cut points", { exact: true });
  const numbers = async () => (await cuts.inputValue()).split(", ").map(Number);
  await cuts.fill("18, 65");
  await cuts.press("Tab");
  const handles = page.getByRole("slider");
  assert.equal(await handles.count(), 2);
  await accessible(page);
  await handles.first().scrollIntoViewIfNeeded();
  const grip = await handles.first().locator("circle").boundingBox();
  const [x, y] = [grip.x + grip.width / 2, grip.y + grip.height / 2];
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x + 60, y, { steps: 5 });
  await page.mouse.up();
  const dragged = (await numbers())[0];
  assert.ok(dragged > 20 && dragged < 45, `dragged to ${dragged}`);
  await handles.first().focus();
  await page.keyboard.press("ArrowRight");
  assert.equal((await numbers())[0], dragged + 1);
  await page.getByRole("button", { name: "Add a cut point" }).click();
  assert.equal((await numbers()).length, 3);
  await page.keyboard.press("Delete");
  assert.equal((await numbers()).length, 2);
  await page.getByText("about", { exact: false }).first().waitFor();
  await picture(page, "cut-points");
  await page.locator("form", { has: cuts }).getByRole("button", { name: "Use this" }).click();
  await page.getByText("Saved.").waitFor();
  assert.match(policy(), new RegExp(`cuts = \\[${dragged + 1}, 65\\]`));

  // Groups made by selecting values; each step can be undone.
  await go("/columns");
  const marital = await page.locator("li", { has: page.locator("h3 code", { hasText: /^marital$/ }) }).getAttribute("id");
  await go(`/hierarchy/${marital.replace("column-", "")}`);
  await page.getByText("Groups of values that you select").click();
  const boxes = page.locator(".tiles input");
  await boxes.nth(0).check();
  await boxes.nth(1).check();
  await page.getByLabel("Name of the group").fill("together");
  await page.getByRole("button", { name: "Make this group" }).click();
  await page.getByText("Saved.").waitFor();
  await page.getByText("Groups of values that you select").click();
  await page.locator(".tiles input").nth(2).check();
  await page.getByLabel("Name of the group").fill("apart");
  await page.getByRole("button", { name: "Make this group" }).click();
  await page.getByText("Saved.").waitFor();
  await accessible(page);
  assert.match(policy(), /marital-groups-2\.csv/);
  await page.getByRole("button", { name: "Undo" }).click();
  await arrive(page, "Policy and history");
  assert.match(policy(), /"marital-groups\.csv"/);

  // Saved as a file, and loaded again.
  await go(`/hierarchy/${marital.replace("column-", "")}`);
  await page.getByRole("button", { name: "Save the hierarchy as a file" }).click();
  await page.getByText("is in the file").waitFor();
  const file = readdirSync(folder).find((name) => name.endsWith("-hierarchy.csv"));
  const text = readFileSync(join(folder, file), "utf8");
  assert.match(text, /;together;\*/);
  await go(`/hierarchy/${marital.replace("column-", "")}`);
  await page.locator("summary", { hasText: "A file" }).click();
  await page.locator("#hierarchy-pick").setInputFiles({ name: "mine.csv", mimeType: "text/csv", buffer: Buffer.from(text) });
  await page.getByText("Saved.").waitFor();
  assert.match(policy(), /hierarchy = "mine\.csv"/);
  await page.getByRole("button", { name: "Count the levels" }).click();
  await arrive(page, "Hierarchies");
  await accessible(page);

  // Codes by word.
  await page.getByRole("link", { name: "Search diagnosis codes by word" }).click();
  await page.getByLabel("Word in a title").fill("asthma");
  await page.getByRole("button", { name: "Search" }).click();
  await page.getByRole("cell", { name: "J45" }).waitFor();
  await accessible(page);
  await end();
});
