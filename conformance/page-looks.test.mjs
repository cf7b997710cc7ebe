// What exported pages look like, against grids of colours that are kept, and what axe-core finds wrong with them: both themes,
// four widths, every state that a person meets.
//   OFFSHOOT_BIN=../target/debug/offshoot node --test page-looks.test.mjs                          compares
//   LOOKS=write LOOKS_FOLDER=… OFFSHOOT_BIN=… node --test page-looks.test.mjs                       keeps what it sees, with pictures
import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";
import { after, test } from "node:test";
import { library } from "./lib/places.mjs";
import { blankPage, closeBrowser, idle, inChromium, missing } from "./page/browser.mjs";
import { exported } from "./page/export.mjs";
import { MAY_DIFFER, distance, gridOf, keep, kept } from "./page/looks.mjs";
import { LONG, richSession } from "./page/session.mjs";

after(closeBrowser);
const THEMES = ["light", "dark"];
const SIZES = [[390, 844], [800, 900], [1280, 900], [2400, 1200]];
/** Fonts that CI installs, each from its file: what else a machine has makes no difference. */
const FONTS = "/usr/share/fonts/truetype/dejavu";
const fontless = ["DejaVuSans", "DejaVuSans-Bold", "DejaVuSansMono", "DejaVuSansMono-Bold"].find((name) => !fs.existsSync(`${FONTS}/${name}.ttf`));
const face = (family, name, weight) => `@font-face { font-family: ${family}; font-weight: ${weight}; src: url(data:font/ttf;base64,${fs.readFileSync(`${FONTS}/${name}.ttf`, "base64")}) }`;
const STYLE = fontless ? "" : [face("looks", "DejaVuSans", 400), face("looks", "DejaVuSans-Bold", 700), face("looks-mono", "DejaVuSansMono", 400), face("looks-mono", "DejaVuSansMono-Bold", 700), ":root, .label { font-family: looks !important; --mono: looks-mono !important }"].join("\n");
const NOW = new Date("2026-01-06T12:00:00Z");
const axe = await library("axe-core");
const { text, ids } = richSession();

/** Clicks scroll, pictures that arrive move what is below them, and what is under the mouse is lit: only once nothing moves and
 *  the mouse is away is a place the same each time. */
async function settle(page, place, block) {
  await page.mouse.move(0, 0);
  await page.evaluate("Promise.all([...document.images].filter((image) => image.src).map((image) => image.decode().catch(() => {})))");
  await page.evaluate(([place, block]) => document.querySelector(place).scrollIntoView({ block, behavior: "instant" }), [place, block]);
  await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
}

/** States of the page by name: from the one before. */
const STATES = {
  opened: async () => {},
  story: async (page) => {
    for (const chapter of await page.locator("#card summary").all()) await chapter.click();
    await page.locator(".chart").waitFor();
    await settle(page, ".chart", "end");
  },
  calls: async (page) => {
    await page.evaluate((id) => (location.hash = `#targetId=${id}`), ids.second);
    await page.locator(".lit", { hasText: "Growing pauses, then" }).waitFor();
    await page.locator("img.picture[src]").waitFor();
    await settle(page, ".lit", "start");
  },
  compared: async (page) => {
    await page.locator(".compare").evaluate((button) => button.click());
    await page.evaluate("for (const button of document.querySelectorAll('#sheet button')) if (button.textContent === 'Show patches') button.click()");
    // Both sides fill in when what they need is opened.
    await page.waitForFunction("document.querySelectorAll('#sheet .patches').length === 2 && [...document.querySelectorAll('#sheet .models')].every((models) => models.textContent)");
    await page.locator("#sheet").evaluate((sheet) => (sheet.scrollTop = 0));
  },
};

/** More states, for axe alone. */
const MORE = {
  keys: async (page) => {
    await page.keyboard.press("Escape");
    await page.keyboard.press("?");
  },
  picture: async (page) => {
    await page.keyboard.press("Escape");
    await page.locator(".frame").press("Enter");
  },
  unfolded: async (page) => {
    await page.keyboard.press("Escape");
    await page.evaluate("for (const box of document.querySelectorAll('main details')) box.open = true");
  },
  found: async (page) => {
    await page.keyboard.press("/");
    await page.locator("#search").fill("archive");
    await page.locator("#hits", { hasText: /^\d+ entries with these words$/ }).waitFor();
    await page.keyboard.press("Enter");
    await idle(page);
  },
  // On a narrow screen a step closes the drawer, so that the search is opened again.
  tree: async (page) => {
    await page.keyboard.press("/");
    await page.locator("#search").fill("");
    await page.locator("#rows").focus();
    await page.keyboard.press("ArrowDown");
  },
  elsewhere: async (page) => {
    await page.keyboard.press("Escape");
    await page.evaluate((id) => (location.hash = `#targetId=${id}&leafId=nobody`), ids.droppedEnd);
    await page.locator("#reset").waitFor();
    if (await page.locator("#more").isVisible()) await page.click("#more");
  },
};

/** A page that looks the same on every machine that has the fonts. */
async function still(file, theme, [width, height]) {
  const options = { colorScheme: theme, reducedMotion: "reduce", bypassCSP: true, hasTouch: width < 500, isMobile: width < 500 };
  const opened = await inChromium(file, { width, height }, options, NOW);
  await opened.page.addStyleTag({ content: STYLE });
  await opened.page.evaluate("Promise.all([...document.fonts].map((font) => font.load()))");
  await opened.page.evaluate("document.activeElement.blur()");
  return opened;
}

async function faultsOf(page) {
  const { violations } = await page.evaluate("axe.run(document, { resultTypes: ['violations'], rules: { 'target-size': { enabled: true } } })");
  return violations.map(({ id, nodes }) => `${id} ×${nodes.length}: ${nodes[0].target} ${nodes[0].any[0]?.message ?? ""}`);
}

const skip = missing || (axe ? false : "axe-core is not installed");
const [seen, blank] = [new Map(), missing ? null : await blankPage()];
const isWriting = process.env.LOOKS === "write";
const known = isWriting ? new Map() : kept();
if (fontless) console.error(`NOTE: ${fontless} is not installed (fonts-dejavu-core): looks were NOT compared`);

async function look(page, name) {
  const picture = await page.screenshot({ caret: "hide", animations: "disabled" });
  if (process.env.LOOKS_FOLDER) fs.writeFileSync(path.join(process.env.LOOKS_FOLDER, `${name}.png`), picture);
  return gridOf(blank, picture);
}

for (const theme of THEMES) {
  for (const size of SIZES) {
    test(`looks and axe: ${theme}, ${size[0]} pixels`, { skip }, async (t) => {
      const { page, wrong, context } = await still(exported(text).page, theme, size);
      const different = [];
      await page.evaluate(axe.source ?? axe.default.source);
      for (const [name, go] of Object.entries(STATES)) {
        await go(page);
        await idle(page);
        const called = `${name}-${size[0]}-${theme}`;
        const grid = await look(page, called);
        seen.set(called, grid);
        const off = distance(grid, known.get(called) ?? "");
        if (off > 0) t.diagnostic(`${called}: ${off.toFixed(2)} % of its cells differ`);
        if (!isWriting && !fontless && off > MAY_DIFFER) different.push(`${called}: ${off.toFixed(2)} % of its cells`);
        assert.deepEqual(await faultsOf(page), [], called);
      }
      assert.deepEqual(different, [], "these look different");
      for (const [name, go] of Object.entries(MORE)) {
        await go(page);
        await idle(page);
        assert.deepEqual(await faultsOf(page), [], `${name}, ${size[0]}, ${theme}`);
      }
      assert.deepEqual(wrong, []);
      await context.close();
    });
  }
}

test("axe: a long page that names what is left, and a page that holds nothing", { skip }, async () => {
  const { page, wrong, context, go } = await inChromium(exported(LONG.talk(700)).page, { width: 1280, height: 900 });
  await page.evaluate(axe.source ?? axe.default.source);
  await page.keyboard.press("End");
  await idle(page);
  assert.deepEqual(await faultsOf(page), []);
  await go(exported(LONG.diff(200)).page);
  await page.evaluate(axe.source ?? axe.default.source);
  assert.deepEqual(await faultsOf(page), []);
  assert.deepEqual(wrong, []);
  await context.close();
});

test("a look that changed is found, and so is what axe forbids", { skip: skip || (fontless ? `${fontless} is not installed` : false) }, async (t) => {
  const { page, context } = await still(exported(text).page, "light", [1280, 900]);
  const before = await look(page, "control");
  assert.equal(distance(before, await look(page, "control")), 0, "the same page looks the same twice");
  const changes = {
    "everything three hundredths larger": "document.documentElement.style.zoom = '1.03'",
    "what a person says in another colour": "for (const one of document.querySelectorAll('.turn.user, #card')) one.style.background = '#ffd0d0'",
    "a card that is gone": "document.getElementById('card').hidden = true",
    "a button that is gone": "document.getElementById('print').hidden = true",
    "a tree that is wider": "document.documentElement.style.setProperty('--panel', '560px')",
  };
  for (const [what, change] of Object.entries(changes)) {
    await page.evaluate(change);
    const after = distance(before, await look(page, "control"));
    t.diagnostic(`${what}: ${after.toFixed(1)} % of the cells differ`);
    assert.ok(after > MAY_DIFFER, what);
    await page.evaluate("document.documentElement.removeAttribute('style'); document.getElementById('card').hidden = document.getElementById('print').hidden = false; for (const one of document.querySelectorAll('.turn.user, #card')) one.style.background = ''");
  }
  assert.equal(distance(before, await look(page, "control")), 0);
  await page.evaluate(axe.source ?? axe.default.source);
  await page.evaluate("document.getElementById('menu').removeAttribute('aria-label'); document.getElementById('menu').textContent = ''; document.getElementById('menu').title = ''; document.getElementById('when').style.color = '#ccc'");
  const faults = (await faultsOf(page)).map((fault) => fault.split(" ")[0]);
  assert.deepEqual(faults.sort(), ["button-name", "color-contrast"]);
  await context.close();
});

after(() => {
  if (isWriting && seen.size > 0) keep(seen);
});
