const LIMIT_MS = 60_000

// Agents run without a person end at the first idle, whatever their plugins still do. That end is held while the stop gate is
// asked and while the model goes on. An end with a code of its own, as after Ctrl-C, is not held.
const gates = new Map()
const held = process.argv.includes("run") ? process.exit : undefined
if (held) {
  process.exit = (code) => {
    if (code !== undefined || gates.size === 0) return held.call(process, code)
    Promise.allSettled([...gates.values()]).then(() => process.exit(code))
  }
}

async function gate(client, directory, event) {
  const path = { id: event.properties.sessionID }
  for (;;) {
    const answer = await ask(event.type, { hook: "event", cwd: directory, event })
    // A fault stops tool calls; it must not keep the agent talking for ever.
    if (answer.decision !== "block" || answer.fault) return
    if (held) process.stderr.write(`Lictor: not done yet, the agent goes on: ${answer.reason}\n`)
    await client.session.prompt({ path, body: { parts: [{ type: "text", text: answer.reason }] } })
    // In a terminal the agent says itself when it is idle again.
    if (!held) return
  }
}

export const Lictor = async ({ client, directory }) => ({
  "tool.execute.before": async (input, output) => {
    const answer = await ask("tool.execute.before", { hook: "tool.execute.before", cwd: directory, input, output })
    if (answer.decision === "block") throw new Error(answer.reason)
  },
  "tool.execute.after": async (input, output) => {
    const answer = await ask("tool.execute.after", { hook: "tool.execute.after", cwd: directory, input, output })
    const remark = answer.additionalContext
    if (remark && typeof output.output === "string") output.output += `\n\n${remark}`
  },
  "chat.message": async (input, output) => {
    await ask("chat.message", { hook: "chat.message", cwd: directory, input, output })
  },
  event: async ({ event }) => {
    if (!["session.created", "session.idle", "session.deleted", "session.compacted"].includes(event.type)) return
    if (event.type !== "session.idle") return ask(event.type, { hook: "event", cwd: directory, event })
    const session = event.properties.sessionID
    // While it is held the gate asks again by itself.
    if (gates.has(session)) return
    const open = gate(client, directory, event).finally(() => gates.delete(session))
    gates.set(session, open)
    await open
  },
})
