// A browser, and windows that note everything a good page does not do.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { join } from "node:path";

export const require = createRequire(join(process.env.UI_MODULES, "package.json"));
const { chromium } = require("playwright-core");

export const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] });

/** A browser window that notes everything a good page does not do. */
export async function look(world, options = {}) {
  const { width = 1280, height = 900, scheme = "light", js = true } = options;
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: scheme, javaScriptEnabled: js });
  const page = await context.newPage();
  watched(page, world.origin);
  await page.goto(world.link);
  return page;
}

/** Notes what a good page does not do. */
export function watched(page, origin) {
  page.faults = [];
  page.on("console", (message) => {
    const expected = page.expected?.some((text) => message.text().includes(text));
    if (["error", "warning"].includes(message.type()) && !expected) page.faults.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => page.faults.push(`script: ${error.message}`));
  page.on("request", (request) => {
    if (new URL(request.url()).origin !== origin) page.faults.push(`foreign request: ${request.url()}`);
  });
}

export function clean(page) {
  assert.deepEqual(page.faults, [], "a page without faults");
}

export { assert };
