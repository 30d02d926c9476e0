// The page in a real browser: `cargo xtask ui-test`. Every test has a world of its own; a failure names what was expected.
import { join } from "node:path";
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { browser } from "./browser.mjs";
import { World } from "./world.mjs";

/** Longer than any test takes. */
const LONGEST = 1_200_000;

const here = fileURLToPath(new URL(".", import.meta.url));
const wanted = process.argv.slice(2);
let failed = 0;
for (const file of readdirSync(here).filter((name) => name.endsWith(".test.mjs")).sort()) {
  const { default: tests } = await import(join(here, file));
  for (const [name, test] of Object.entries(tests)) {
    const title = `${file.replace(".test.mjs", "")}: ${name}`;
    if (wanted.length && !wanted.some((word) => title.includes(word))) continue;
    const world = new World("shop");
    const begun = performance.now();
    try {
      const late = new Promise((_, reject) => setTimeout(() => reject(new Error("it took too long")), LONGEST).unref());
      await Promise.race([test(world), late]);
      console.log(`ok    ${title} (${Math.round(performance.now() - begun)} ms)`);
    } catch (error) {
      failed += 1;
      console.log(`FAIL  ${title}\n${error.stack}`);
    } finally {
      await Promise.all(browser.contexts().map((context) => context.close()));
      await world.end();
    }
  }
}
await browser.close();
process.exit(failed ? 1 : 0);
