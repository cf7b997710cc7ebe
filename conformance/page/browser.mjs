// Exported pages in a Chromium of the system, driven by playwright-core: how a page is opened, and when it is done.
import * as fs from "node:fs";
import { pathToFileURL } from "node:url";
import { library } from "../lib/places.mjs";
import { forget } from "./export.mjs";

/** How many times slower the pages' processor is to be: tests that look before a page is done fail then. */
const SLOWER = Number(process.env.SLOWER ?? 1);

async function chromium() {
  const playwright = await library("playwright-core");
  const found = [process.env.CHROMIUM_BIN, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((file) => file && fs.existsSync(file));
  if (!playwright || !found) return null;
  return (playwright.chromium ?? playwright.default.chromium).launch({ executablePath: found, args: ["--no-sandbox", "--font-render-hinting=none", "--disable-lcd-text"] });
}

const browser = await chromium();
/** Why no page can be opened; false if they can. */
export const missing = browser ? false : "no Chromium is installed (CHROMIUM_BIN, /usr/bin/chromium)";
if (missing) console.error(`NOTE: ${missing}: pages were NOT opened in a real browser, only in jsdom`);

export async function closeBrowser() {
  await browser?.close();
  forget();
}

/** When a page has shown what it opens. Its policy lets nobody evaluate text. */
export const idle = (page) => page.locator('main[aria-busy="false"]').waitFor({ state: "attached" });

export const DESK = { width: 1200, height: 800 };
export const PHONE = { width: 390, height: 844 };

/** What lasts only a moment, kept for tests: announcements, texts of buttons that copy, and addresses that clicks made. */
const KEEPER = () => {
  const kept = (window.moments = { announced: [], copied: [], pushed: [] });
  const push = history.pushState.bind(history);
  history.pushState = (...words) => {
    push(...words);
    kept.pushed.push(location.hash);
  };
  new MutationObserver((records) => {
    for (const { target } of records) {
      if (target.id === "said" && target.textContent) kept.announced.push(target.textContent);
      if (target.classList?.contains("copy")) kept.copied.push(target.textContent);
    }
  }).observe(document, { subtree: true, childList: true });
};

/** What the page announced since it was opened. */
export const announced = (page) => page.evaluate("window.moments.announced.join('\\n')");

/** The entry to which the last click or key led. Scrolling changes the address, too. */
export const target = (page) => page.evaluate("new URLSearchParams((window.moments.pushed.at(-1) ?? '').slice(1)).get('targetId')");

/** A page of Chromium, and everything that went wrong on it; `go` opens another file in it, and forgets what went wrong.
 * `options` are those of a context; with `now` that is what the clock says. */
export async function inChromium(file, viewport = DESK, options = {}, now = undefined) {
  const context = await browser.newContext({ viewport, ...options });
  const page = await context.newPage();
  if (now) await page.clock.setFixedTime(now);
  if (SLOWER > 1) await (await context.newCDPSession(page)).send("Emulation.setCPUThrottlingRate", { rate: SLOWER });
  const wrong = [];
  page.on("console", (message) => wrong.push(message.text()));
  page.on("pageerror", (error) => wrong.push(error.message));
  page.on("request", (request) => /^(file|data|blob):/.test(request.url()) || wrong.push(`asks for ${request.url()}`));
  await page.addInitScript("window.live = []; window.pwn = (n) => window.live.push(n);");
  await page.addInitScript(KEEPER);
  const go = async (file, address = "") => {
    wrong.length = 0;
    await page.goto(pathToFileURL(file).href + address);
    await idle(page);
  };
  await go(file);
  return { page, wrong, context, go };
}

/** A page that holds nothing and forbids nothing. */
export const blankPage = () => browser.newPage();
