// Questions: asked by a real hook that waits, answered on the page.
import { ASKED } from "./world.mjs";
import { assert, browser, clean, look, watched } from "./browser.mjs";
import { Team } from "./team.mjs";

/** A hook that waits until the page shows its question. */
async function waiting(world, page, what = "one") {
  const answer = world.bash(ASKED(what));
  const card = page.locator("article.waiting", { hasText: what });
  // A hook that does not wait has no card: what it said tells why.
  const ended = answer.then((said) => Promise.reject(new Error(`the hook answered before the page showed its question: ${JSON.stringify(said)}`)));
  await Promise.race([card.waitFor(), ended]);
  ended.catch(() => {});
  return { answer, card };
}

export default {
  async "approve once releases the hook that waits"(world) {
    await world.bash("ls");
    await world.ui();
    const page = await look(world);
    const { answer, card } = await waiting(world, page);
    const begun = performance.now();
    await card.getByRole("button", { name: "Approve once" }).click();
    const { code, at } = await answer;
    assert.equal(code, 0, "the hook lets the call go");
    console.log(`      approve → hook released: ${Math.round(at - begun)} ms`);
    await page.getByText("Approved once").waitFor();
    await page.getByText("The agent used it").first().waitFor();
    clean(page);
  },

  async "deny tells the agent why"(world) {
    await world.bash("ls");
    await world.ui();
    const page = await look(world);
    const { answer, card } = await waiting(world, page);
    await card.getByRole("textbox").fill("the release is frozen");
    await card.getByRole("button", { name: "Deny" }).click();
    const { code, err, out } = await answer;
    assert.equal(code, 2);
    assert.match(err + out, /the release is frozen/);
    await page.getByText("Denied").first().waitFor();
    clean(page);
  },

  async "for this session counts again, and is on record with who said it"(world) {
    await world.bash("ls");
    await world.ui();
    const page = await look(world);
    const { answer, card } = await waiting(world, page);
    await card.getByRole("button", { name: "For this session" }).click();
    assert.equal((await answer).code, 0);
    assert.equal((await world.bash(ASKED("one"))).code, 0, "the same call passes again");
    const { out } = await world.lictor(["audit", "query", "--kind", "approval.granted", "--json"]);
    assert.match(out, /"by":\s*"ada"/);
    assert.match(out, /"from":\s*"page"/);
    assert.match(out, /"signature"/, "the grant is signed");
    clean(page);
  },

  async "remember this tool lets it go, now and in sessions to come"(world) {
    await world.bash("ls");
    await world.ui();
    const page = await look(world);
    const tool = "mcp__shop__publish_prices";
    const answer = world.hook(tool, { list: "autumn" });
    const card = page.locator("article.waiting", { hasText: tool });
    await card.waitFor();
    await card.getByRole("button", { name: "Remember this tool" }).click();
    assert.equal((await answer).code, 0, "the hook that waits goes on");
    await page.getByText("Approved once").first().waitFor();
    assert.equal((await world.hook(tool, { list: "winter" })).code, 0, "the same session");
    assert.equal((await world.hook(tool, { list: "spring" }, "s2")).code, 0, "another session");
    assert.notEqual((await world.hook("mcp__shop__delete_prices", {}, "s3", { permission_mode: "default" })).out, "", "another tool is asked about");
    clean(page);
  },

  async "without JavaScript, questions can be read and answered"(world) {
    await world.bash("ls");
    await world.ui();
    const page = await look(world, { js: false, width: 390, height: 844 });
    const answer = world.bash(ASKED("plain"));
    const button = page.getByRole("button", { name: "Approve once" });
    for (let tries = 0; tries < 50 && !(await button.count()); tries++) await page.reload();
    await button.click();
    assert.equal((await answer).code, 0);
    await page.getByText("Approved once").waitFor();
    clean(page);
  },

  async "by keyboard alone"(world) {
    await world.bash("ls");
    await world.ui();
    const page = await look(world);
    const { answer } = await waiting(world, page);
    await page.locator("body").focus();
    await page.keyboard.press("j");
    assert.match(await page.evaluate(() => document.activeElement.textContent), /shell command/);
    for (let tab = 0; tab < 20; tab++) {
      await page.keyboard.press("Tab");
      if ((await page.evaluate(() => document.activeElement.value)) === "once") break;
    }
    await page.keyboard.press("Enter");
    assert.equal((await answer).code, 0);
    clean(page);
  },

  async "what somebody types is not lost when something new comes"(world) {
    await world.bash("ls");
    await world.ui();
    const page = await look(world);
    const { card } = await waiting(world, page, "first");
    await card.getByRole("textbox").fill("because");
    await world.bash("ls");
    world.bash(ASKED("second"), "s2");
    await page.locator("article.waiting", { hasText: "second" }).waitFor();
    assert.equal(await card.getByRole("textbox").inputValue(), "because");
    await world.lictor(["deny", (await card.getAttribute("data-id")).slice(0, 12)]);
    await page.locator("article.waiting", { hasText: "second" }).getByRole("button", { name: "Deny" }).click();
    clean(page);
  },

  async "a form of another page, a wrong host and an old link count for nothing"(world) {
    await world.bash("ls");
    await world.ui();
    const page = await look(world);
    const { answer, card } = await waiting(world, page);
    const address = await card.locator("form").getAttribute("action");
    const csrf = await card.locator("input[name=csrf]").inputValue();
    const send = (headers, form) => page.request.post(world.origin + address, { headers, form, maxRedirects: 0 });
    assert.equal((await send({ origin: "http://evil.example" }, { answer: "once", csrf })).status(), 403);
    assert.equal((await send({ origin: world.origin }, { answer: "once", csrf: csrf.replace(/./g, "0") })).status(), 403);
    assert.equal((await send({ origin: world.origin }, { answer: "once" })).status(), 403);
    assert.equal((await page.request.get(world.origin + "/approvals", { headers: { host: "evil.example:80" } })).status(), 421);
    const stranger = await page.context().browser().newContext();
    const again = await stranger.newPage();
    await again.goto(world.link);
    assert.match(again.url(), /sign-in/, "the link opens the page once");
    assert.equal((await stranger.request.post(world.origin + address, { form: { answer: "once", csrf }, maxRedirects: 0 })).status(), 303);
    assert.equal(await card.count(), 1, "the question still waits");
    await card.getByRole("button", { name: "Deny" }).click();
    assert.equal((await answer).code, 2);
  },

  async "two people and a quorum, and nobody for their own agent"(world) {
    const team = new Team(world, "version: 1\nknown_tools: {known: [read_file]}\napprovals: {quorum: 2, four_eyes: true}\n");
    try {
      await team.start("ada", "bob", "cleo");
      const bob = await team.token("bob");
      const action = { kind: "tool", tool: "publish", payload: { list: "autumn" }, session_id: "s", agent: "planner" };
      const judge = async () => (await team.api("POST", "/v1/evaluate", { action }, bob)).decision;
      assert.equal(await judge(), "block");
      const pages = {};
      for (const who of ["bob", "ada", "cleo"]) {
        pages[who] = await (await browser.newContext()).newPage();
        watched(pages[who], team.origin);
        await team.signIn(pages[who], who);
      }
      const card = (who) => pages[who].locator("article", { hasText: "publish" }).first();
      await card("bob").getByText("somebody else has to say yes").waitFor();
      assert.equal(await card("bob").getByRole("button", { name: "Approve once" }).count(), 0);
      await card("ada").getByRole("button", { name: "Approve once" }).click();
      await card("ada").getByText("1 of 2").waitFor();
      assert.equal(await judge(), "block", "one yes is not enough");
      await pages.cleo.reload();
      await card("cleo").getByText("1 of 2").waitFor();
      await card("cleo").getByRole("button", { name: "Approve once" }).click();
      await card("cleo").getByText("by ada and cleo").waitFor();
      assert.equal(await judge(), "pass");
      for (const page of Object.values(pages)) clean(page);
    } finally {
      await team.stop();
    }
  },
};
