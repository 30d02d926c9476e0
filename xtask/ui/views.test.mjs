// Every view: empty, with one record, with many; in both widths and themes; with hostile text; for everybody.
import { assert, browser, clean, look, require, watched } from "./browser.mjs";
import { Team } from "./team.mjs";
import { ASKED } from "./world.mjs";
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

const VIEWS = ["/approvals", "/feed", "/sessions", "/rules", "/policy", "/findings", "/projects", "/audit"];
const AXE = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
/** Records of the test with many of them; `cargo xtask soak` has a million. */
const MANY = Number(process.env.UI_RECORDS ?? 10_000);
/** What a page may weigh, compressed, without what browsers keep. */
const MOST_BYTES = 60_000;

/** Looks at a view as strictly as it gets. */
async function visit(page, world, view) {
  const answer = await page.goto(world.origin + view);
  assert.equal(answer.status(), 200, `${view}: ${answer.status()}`);
  const weight = gzipSync(await answer.body()).length;
  assert.ok(weight <= MOST_BYTES, `${view} weighs ${weight} bytes`);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  assert.ok(wide <= 0, `${view} is ${wide} px too wide at ${page.viewportSize().width} px`);
  assert.equal(await page.locator("h1").count(), 1, `${view} has one heading`);
  return answer;
}

/** Nobody is shut out. */
async function accessible(page, view) {
  await page.evaluate(AXE);
  const { violations } = await page.evaluate(() => globalThis.axe.run());
  const serious = violations.filter((one) => ["serious", "critical"].includes(one.impact));
  const told = serious.map((one) => `${one.id}: ${one.nodes[0].html.slice(0, 160)} ${one.nodes[0].failureSummary}`);
  assert.deepEqual(told, [], `${view} in ${page.viewportSize().width} px`);
}

/** A window in which axe may run: the page itself forbids what it does. */
async function windows(world) {
  const pages = [];
  const first = await look(world);
  const state = await first.context().storageState();
  for (const [width, height, scheme] of [[1280, 900, "light"], [390, 844, "dark"], [390, 844, "light"], [1280, 900, "dark"]]) {
    const context = await browser.newContext({ viewport: { width, height }, colorScheme: scheme, storageState: state });
    const page = await context.newPage();
    watched(page, world.origin);
    pages.push(page);
  }
  return pages;
}

/** Many records, through one process. */
async function many(world, count) {
  const lines = [];
  const commands = ["ls", "cargo build", "git push --force", "rm -rf ~", "cat README.md", ASKED("x")];
  for (let i = 0; i < count; i++) {
    const action = { kind: "bash", payload: { command: commands[i % commands.length] }, session_id: `s${i % 40}`, cwd: world.project, agent: "claude-code" };
    lines.push(JSON.stringify({ jsonrpc: "2.0", id: i, method: "evaluate", params: { action } }));
  }
  const { code, err } = await world.lictor(["rpc"], lines.join("\n") + "\n");
  assert.equal(code, 0, err);
}

export default {
  async "with nothing on record, every view says what to do"(world) {
    await world.ui();
    for (const page of await windows(world)) {
      for (const view of VIEWS) {
        await visit(page, world, view);
        await accessible(page, view);
      }
      await page.goto(world.origin + "/feed");
      assert.match(await page.locator("main").innerText(), /lictor init/);
      clean(page);
    }
  },

  async "with one decision, and the demo on request"(world) {
    await world.bash("ls");
    await world.ui();
    const page = await look(world);
    for (const view of [...VIEWS, "/decisions/2", "/session?key=claude-code:s1"]) await visit(page, world, view);
    await page.goto(world.origin + "/sessions");
    assert.equal(await page.locator("tbody tr").count(), 1);
    clean(page);
    const fresh = new (world.constructor)("fresh");
    try {
      await fresh.ui();
      const other = await look(fresh);
      await other.goto(fresh.origin + "/feed");
      await other.getByRole("button", { name: "demo" }).click();
      await other.locator(".timeline").getByText("rm -rf ~").first().waitFor();
      await accessible(other, "the demo");
      clean(other);
    } finally {
      await fresh.end();
    }
  },

  async "with many records, every view, both widths, both themes"(world) {
    await many(world, MANY);
    await world.ui();
    const pages = await windows(world);
    const seq = String(MANY - 10);
    const all = [...VIEWS, `/decisions/${seq}`, "/session?key=claude-code:s1", "/rules/one?rule=delete.everything", "/feed?decision=block", "/feed?text=README", "/audit?kind=evaluated"];
    for (const [place, page] of pages.entries()) {
      for (const view of all) {
        await visit(page, world, view);
        // Once in each width and in each theme.
        if (place < 2) await accessible(page, view);
      }
      clean(page);
    }
    const [page] = pages;
    await page.goto(world.origin + "/feed");
    const first = await page.locator("tbody tr").first().getAttribute("data-seq");
    await page.getByRole("link", { name: "Older" }).click();
    assert.ok(Number(await page.locator("tbody tr").first().getAttribute("data-seq")) < Number(first));
    await page.goto(world.origin + "/audit");
    await page.getByRole("button", { name: "Verify" }).click();
    await page.getByText("Sound").waitFor();
    for (const [format, has] of [["jsonl", /"export"/], ["csv", /^# .*"filter"/], ["ocsf", /class_uid/], ["cef", /^CEF:0\|lictor/]]) {
      const answer = await page.request.get(`${world.origin}/audit/export?format=${format}&kind=evaluated&since=1&before=2001`);
      const text = await answer.text();
      assert.equal(answer.status(), 200);
      assert.match(text, has);
      assert.match(text, /"head"/);
      assert.ok(text.split("\n").length > 500, `${format}: ${text.length}`);
    }
    clean(page);
  },

  async "decisions and records are found by day, text and rule"(world) {
    for (const command of ["echo green", "echo blue", "rm -rf ~"]) await world.bash(command);
    await world.ui();
    const page = await look(world);
    const day = (offset) => new Date(Date.now() + offset * 86_400_000).toISOString().slice(0, 10);
    const found = async (view) => {
      await visit(page, world, view);
      return (await page.locator("tbody tr").allInnerTexts()).length;
    };
    assert.equal(await found("/feed?text=GREEN"), 1);
    assert.equal(await found(`/feed?from=${day(-1)}&until=${day(1)}`), 3);
    assert.equal(await found(`/feed?from=${day(1)}`), 0);
    assert.equal(await found(`/feed?until=${day(-2)}`), 0);
    assert.equal(await found("/audit?kind=evaluated&text=green"), 1);
    assert.equal(await found("/audit?decision=block&kind=evaluated"), 1);
    assert.equal(await found(`/audit?until=${day(-2)}`), 0);
    await page.getByRole("link", { name: "clear" }).click();
    await page.locator("tbody tr").nth(3).waitFor();
    // What the form sends can be sent again: the address has the search, and the reader's time zone.
    await page.locator("input[name=text]").fill("blue");
    await page.getByRole("button", { name: "Search" }).click();
    await page.waitForURL(/zone=/);
    assert.equal(await page.locator("tbody tr", { hasText: "evaluated" }).count(), 1);
    assert.equal((await page.goto(world.origin + "/feed?from=yesterday")).status(), 400);
    await page.getByText("say it as").waitFor();
    page.faults = page.faults.filter((fault) => !fault.includes("400"));
    clean(page);
  },

  async "the feed goes on across a restart of the server, without gap or double"(world) {
    await world.bash("echo begin");
    await world.ui();
    const page = await look(world);
    page.expected = ["ERR_CONNECTION_REFUSED", "ERR_INCOMPLETE_CHUNKED", "Failed to load resource", "ERR_EMPTY_RESPONSE", "ERR_CONNECTION_RESET"];
    await page.goto(world.origin + "/feed");
    await page.getByText("live", { exact: true }).waitFor();
    await world.bash("echo one");
    await page.getByText("bash echo one").waitFor();
    await world.stop();
    await world.bash("echo two");
    await world.bash("echo three");
    await world.ui();
    // Sign-ins end with the process on one machine; who has the new link is in again.
    await page.context().request.get(world.link);
    await page.getByText("bash echo three").waitFor();
    await world.bash("echo four");
    await page.getByText("bash echo four").waitFor();
    const rows = await page.locator("tbody tr .what a").allInnerTexts();
    assert.deepEqual(rows, ["four", "three", "two", "one", "begin"].map((word) => `bash echo ${word}`));
    await page.getByRole("button", { name: "Pause" }).click();
    await world.bash("echo five");
    await page.waitForTimeout(600);
    assert.equal(await page.getByText("bash echo five").count(), 0, "paused");
    await page.getByRole("button", { name: "Resume" }).click();
    await page.getByText("bash echo five").waitFor();
    clean(page);
  },

  async "hostile text in every field is shown as text"(world) {
    const evil = `<script>alert(1)</script><img src=x onerror=alert(2)>\u202e\u200b\u001b[31m'"&{{7*7}}`;
    const long = "A".repeat(1_000_000);
    await world.hook("Bash", { command: `echo '${evil}'`, description: evil }, evil);
    await world.hook("Write", { file_path: `${world.project}/${evil.replaceAll("/", "_")}`, content: long }, "s2");
    await world.hook("Edit", { file_path: `${world.project}/a.txt`, old_string: evil, new_string: long }, "s2");
    await world.lictor(["verdict", "record", "--plan-hash", "p1", "--level", "high", "--title", evil.replaceAll("\u001b", ""), "--agent", "r", "--evidence", `a.txt:1:${evil.replaceAll("\u001b", "")}`]);
    world.hook("Bash", { command: `eval "$X" # ${evil} ${"B".repeat(100_000)}` }, evil);
    await world.ui();
    const page = await look(world);
    page.on("dialog", () => page.faults.push("a script of the agent ran"));
    await page.locator("article.waiting", { hasText: "eval" }).waitFor();
    const key = encodeURIComponent(`claude-code:${evil}`);
    for (const view of [...VIEWS, `/session?key=${key}`, "/decisions/2", "/decisions/4", "/decisions/6", `/feed?text=${encodeURIComponent(evil)}`, `/rules/one?rule=${encodeURIComponent(evil)}`]) {
      const answer = await visit(page, world, view);
      const html = await answer.text();
      assert.doesNotMatch(html, /<script>alert|<img src=x/, view);
      // eslint-disable-next-line no-control-regex
      assert.doesNotMatch(html, /[\u0000-\u0008\u000b-\u001f\u200b-\u200f\u202a-\u202e\u2066-\u2069]/, view);
    }
    await page.goto(world.origin + "/approvals");
    assert.match(await page.locator("article.waiting").first().innerText(), /\\u\{202e\}/, "what is hidden is written out");
    clean(page);
  },

  async "a policy is checked while it is typed, tried, simulated and written"(world) {
    for (const command of ["ls", "cargo build", "git status"]) await world.bash(command);
    await world.ui();
    const page = await look(world);
    await page.goto(world.origin + "/policy");
    await page.locator("#text").fill("version: 1\nbondaries: {}\n");
    await page.getByText("did you mean").waitFor();
    await page.locator("#text").fill("version: 1\nbash_safety:\n  blocked_patterns: ['cargo build']\n");
    await page.getByRole("button", { name: "Simulate" }).click();
    await page.getByText("1 would differ").waitFor();
    await page.locator("input[name=what]").fill("cargo build --release");
    await page.getByRole("button", { name: "Try" }).click();
    await page.locator(".panel .tag.block").first().waitFor();
    assert.ok((await page.locator("svg.graph .n-block").count()) > 0, "the path is drawn");
    await page.getByRole("button", { name: "Write governance.yaml" }).click();
    await page.getByText("In force from").waitFor();
    assert.match(readFileSync(`${world.project}/governance.yaml`, "utf8"), /cargo build/);
    assert.equal((await world.bash("cargo build")).code, 2);
    clean(page);
  },

  async "a wrong decision becomes a test of the policy"(world) {
    await world.bash("rm -rf ~");
    await world.ui();
    const page = await look(world);
    await page.goto(world.origin + "/feed?decision=block");
    await page.locator("tbody tr a.main").first().click();
    await page.getByText("This was wrong").click();
    await page.locator("input[name=reason]").fill("for the test");
    await page.getByRole("button", { name: "policy test" }).click();
    await page.waitForURL(/decisions/);
    assert.match(readFileSync(`${world.project}/policy_tests/wrong.yaml`, "utf8"), /rm -rf ~/);
    await page.goto(world.origin + "/rules");
    assert.match(await page.locator("tbody").innerText(), /delete\.everything/);
    clean(page);
  },

  async "an earlier policy of a team is put in force again"(world) {
    const team = new Team(world, "version: 1\nbash_safety: {blocked_programs: [terraform]}\n");
    try {
      await team.start("ada");
      await team.api("PUT", "/v1/tenants/acme/policy", { text: "version: 1\n" });
      const page = await (await browser.newContext({ viewport: { width: 390, height: 844 } })).newPage();
      watched(page, team.origin);
      await team.signIn(page, "ada");
      await page.goto(team.origin + "/policy");
      await page.getByRole("button", { name: "Put version 1 in force again" }).click();
      await page.getByText("Version 1 is in force again").waitFor();
      assert.match(await page.locator("#text").inputValue(), /terraform/);
      assert.equal((await team.api("GET", "/v1/tenants/acme/policy")).version, 3);
      clean(page);
    } finally {
      await team.stop();
    }
  },

  async "people, tokens and notifications of a team"(world) {
    const team = new Team(world, "version: 1\n");
    try {
      await team.start("ada");
      const context = await browser.newContext({ viewport: { width: 390, height: 844 }, colorScheme: "dark" });
      const page = await context.newPage();
      watched(page, team.origin);
      await team.signIn(page, "ada");
      for (const [width, height] of [[390, 844], [1280, 900]]) {
        await page.setViewportSize({ width, height });
        for (const view of [...VIEWS, "/people"]) await visit(page, team, view);
      }
      await page.getByText("Add somebody").click();
      await page.locator("input[name=uid]").fill("<b>bob</b>");
      await page.getByRole("button", { name: "Save" }).click();
      await page.getByText("names have").or(page.getByText("name")).first().waitFor();
      await page.goto(team.origin + "/people");
      await page.getByText("Add a notification").click();
      await page.locator("input[name=name]").fill("phone");
      await page.locator("select[name=way]").selectOption("ntfy");
      await page.locator("input[name=to]").fill("http://127.0.0.1:9/lictor");
      await page.getByRole("button", { name: "Add" }).click();
      // Only where it goes: an address may hold a secret.
      await page.getByRole("button", { name: "Send a test message to phone" }).click();
      await page.getByText("phone cannot be told").waitFor();
      await page.getByText("ntfy 127.0.0.1:9").waitFor();
      assert.equal(await page.getByText("9/lictor").count(), 0);
      const plain = await (await browser.newContext({ storageState: await context.storageState() })).newPage();
      await plain.goto(team.origin + "/people");
      await accessible(plain, "/people");
    } finally {
      await team.stop();
    }
  },
};
