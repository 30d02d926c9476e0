// A home, a project and a page of the test's own, and the agent's hooks that write to it.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const { LICTOR, LICTOR_SERVER } = process.env;

/** A command that every policy asks about: what it runs is not known before it runs. */
export const ASKED = (what) => `eval "$CMD" && echo ${what}`;

export class World {
  constructor(name, directory = mkdtempSync(join(tmpdir(), `lictor-ui-${name}-`))) {
    this.directory = directory;
    this.home = join(this.directory, "home");
    this.project = join(this.directory, name);
    mkdirSync(join(this.project, ".git"), { recursive: true });
    writeFileSync(join(this.project, ".git", "HEAD"), "ref: refs/heads/main\n");
    this.policy("version: 1\napprovals: {wait: 50s}\n");
    this.calls = 0;
  }

  /** The person's own policy. */
  policy(text) {
    mkdirSync(join(this.home, ".config", "lictor"), { recursive: true });
    writeFileSync(join(this.home, ".config", "lictor", "governance.yaml"), text);
  }

  get env() {
    return { PATH: "/usr/bin:/bin", HOME: this.home, USER: "ada", TZ: "UTC" };
  }

  run(program, args, input = "") {
    return new Promise((resolve, reject) => {
      const child = spawn(program, args, { cwd: this.project, env: this.env });
      let [out, err] = ["", ""];
      child.stdout.on("data", (data) => (out += data));
      child.stderr.on("data", (data) => (err += data));
      child.on("error", reject);
      child.on("close", (code) => resolve({ code, out, err, at: performance.now() }));
      // A program that ends before it has read its input is judged by how it ends.
      child.stdin.on("error", () => {});
      child.stdin.end(input);
    });
  }

  lictor(args, input) {
    return this.run(LICTOR, args, input);
  }

  /** What an agent does before a tool call; ends when Lictor answers. */
  hook(tool, input, session = "s1", more = {}) {
    this.calls += 1;
    const event = {
      session_id: session, cwd: this.project, hook_event_name: "PreToolUse", tool_name: tool, tool_input: input,
      tool_use_id: `t${this.calls}`, permission_mode: "dontAsk", ...more,
    };
    return this.lictor(["hook", "claude-code", event.hook_event_name], JSON.stringify(event));
  }

  bash(command, session) {
    return this.hook("Bash", { command }, session);
  }

  /** Starts the page; the same port again after a stop. */
  async ui() {
    const args = ["ui", "--no-open", "--cwd", this.project, ...(this.port ? ["--port", String(this.port)] : [])];
    this.child = spawn(LICTOR_SERVER, args, { cwd: this.project, env: this.env, stdio: ["ignore", "pipe", "inherit"] });
    const line = await new Promise((resolve, reject) => {
      let text = "";
      this.child.stdout.on("data", (data) => {
        text += data;
        if (text.includes("\n")) resolve(text.trim());
      });
      this.child.on("exit", (code) => reject(new Error(`the page ended with ${code}`)));
    });
    this.link = line;
    this.origin = new URL(line).origin;
    this.port = Number(new URL(line).port);
    return line;
  }

  async stop() {
    const child = this.child;
    if (!child || child.exitCode !== null) return;
    const ended = new Promise((resolve) => child.on("exit", resolve));
    child.kill("SIGTERM");
    await ended;
  }

  async end() {
    await this.stop();
    rmSync(this.directory, { recursive: true, force: true });
  }
}
