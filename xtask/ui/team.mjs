// A server for several people, as a process of the test's own.
import { spawn } from "node:child_process";
import { join } from "node:path";

const { LICTOR_SERVER } = process.env;
const ROLES = ["viewer", "auditor", "approver", "author", "publisher", "admin"];

export class Team {
  constructor(world, policy) {
    this.world = world;
    this.policy = policy;
  }

  /** Starts it; the first time with a tenant and people who may do everything. */
  async start(...people) {
    const args = ["serve", "--listen", `127.0.0.1:${this.port ?? 0}`, "--state", join(this.world.directory, "server")];
    this.child = spawn(LICTOR_SERVER, args, { stdio: ["ignore", "pipe", "inherit"] });
    const wanted = this.operator ? 1 : 2;
    const lines = await new Promise((resolve, reject) => {
      let text = "";
      this.child.stdout.on("data", (data) => {
        text += data;
        if (text.split("\n").length > wanted) resolve(text.split("\n"));
      });
      this.child.on("exit", (code) => reject(new Error(`the server ended with ${code}`)));
    });
    this.origin = lines[0].split(" ").pop();
    this.port = Number(new URL(this.origin).port);
    if (this.operator) return;
    const code = lines[1].split("code=")[1];
    this.operator = (await this.api("POST", "/v1/setup", { code, owner: "op" }, "")).secret;
    await this.api("PUT", "/v1/tenants/acme", {});
    const known = people.map((uid) => ({ uid, email: `${uid}@example.com`, roles: ROLES }));
    await this.api("PUT", "/v1/tenants/acme/people", { people: known });
    await this.api("PUT", "/v1/tenants/acme/policy", { text: this.policy });
  }

  async api(method, path, body, token = this.operator) {
    const answer = await fetch(this.origin + path, {
      method, body: body && JSON.stringify(body),
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    });
    const value = await answer.json();
    if (!answer.ok) throw new Error(`${method} ${path}: ${JSON.stringify(value)}`);
    return value;
  }

  async token(owner, kind = "person") {
    return (await this.api("POST", "/v1/tenants/acme/tokens", { kind, owner })).secret;
  }

  /** Signs somebody in, as a person does. */
  async signIn(page, uid) {
    await page.goto(`${this.origin}/sign-in`);
    await page.getByText("With a token").click();
    await page.locator("input[name=token]").fill(await this.token(uid));
    await page.getByRole("button", { name: "Sign in with the token" }).click();
    await page.waitForURL(/approvals/);
  }

  async stop() {
    const child = this.child;
    if (!child || child.exitCode !== null) return;
    const ended = new Promise((resolve) => child.on("exit", resolve));
    child.kill("SIGTERM");
    await ended;
  }
}
