// How long after a click on the page a hook that waits goes on: a table for docs/benchmarks.md. The clock starts with the
// browser's own event: what playwright does before it, waiting until the button stands still, is no part of the page.
import { browser, look } from "./browser.mjs";
import { ASKED, World } from "./world.mjs";

const ROUNDS = 25;
const world = new World("shop");
const times = [];
try {
  await world.bash("ls");
  await world.ui();
  const page = await look(world);
  await page.evaluate(() => {
    const note = (event) => sessionStorage.setItem("clicked", performance.timeOrigin + event.timeStamp);
    document.addEventListener("click", note, { capture: true });
  });
  for (let round = 0; round < ROUNDS; round += 1) {
    const answer = world.bash(ASKED(`round-${round}`));
    const card = page.locator("article.waiting", { hasText: `round-${round}` });
    await card.waitFor();
    await card.getByRole("button", { name: "Approve once" }).click();
    const { code, at } = await answer;
    if (code !== 0) throw new Error(`the hook ended with ${code}`);
    const clicked = Number(await page.evaluate(() => sessionStorage.getItem("clicked")));
    times.push(performance.timeOrigin + at - clicked);
  }
} finally {
  await world.end();
  await browser.close();
}
times.sort((a, b) => a - b);
const at = (percent) => Math.round(times[Math.floor(((times.length - 1) * percent) / 100)]);
console.log(`| from a click on "Approve once" in Chromium to the end of the hook | p50 ms | p95 ms | worst of ${ROUNDS} |`);
console.log("|---|---:|---:|---:|");
console.log(`| \`lictor ui\`, SQLite | ${at(50)} | ${at(95)} | ${at(100)} |`);
