// Cline gives a plugin three seconds, and ends the run after that.
const LIMIT_MS = 2_700

// Cline takes the input of its tools in many forms. Whatever any of them could mean is judged.
const all = (pick) => (given) => (Array.isArray(given) ? given.flatMap(all(pick)) : given == null ? [] : pick(given))
const paths = all((given) =>
  typeof given === "object" ? paths([given.files, given.file_paths, given.paths, given.path, given.file_path, given.filePath]) : [given])
const commands = all((given) => {
  if (typeof given !== "object") return [{ command: given }]
  const { command, args } = given
  const direct = Array.isArray(args) && args.every((word) => typeof word === "string")
  return [...commands([given.commands, given.cmd]), ...(direct ? [{ command: [command, ...args] }] : commands(command))]
})

// A tool call as the calls that it stands for.
function calls(tool, input) {
  const given = typeof input === "object" && input !== null && !Array.isArray(input) ? input : { input }
  switch (tool) {
    case "run_commands":
      return commands(input)
    case "read_files":
      return [{ paths: paths(input) }]
    case "fetch_web_content":
      return [{ urls: [given.requests].flat().map((request) => request?.url) }]
    case "search_codebase":
      return [{ pattern: [given.queries ?? input].flat().join("|") }]
    case "editor": {
      const { old_text, new_text, ...rest } = given
      return [{ ...rest, old_string: old_text ?? undefined, new_string: new_text }]
    }
    default:
      return [given]
  }
}

let session
// Refused calls come back as failed ones.
const refused = new Set()

function envelope(hook, { snapshot }, input, output) {
  // Agents that an agent has started are part of its session.
  const agent_id = snapshot.parentAgentId ? snapshot.agentId : undefined
  const sessionID = session ?? snapshot.conversationId ?? snapshot.runId
  return { hook, cwd: process.cwd(), agent_id, input: { sessionID, ...input }, output }
}

export default {
  name: "lictor",
  manifest: { capabilities: ["hooks"] },
  setup(_, context) {
    session = context?.session?.sessionId
  },
  hooks: {
    beforeRun: async (event) => {
      if (event.snapshot.parentAgentId) return
      const said = event.snapshot.messages?.findLast((message) => message.role === "user")
      const texts = (said?.content ?? []).filter((part) => part.type === "text")
      const parts = texts.map(({ text }) => ({ text: text.replace(/^<user_input[^>]*>|<\/user_input>$/g, "") }))
      await ask("beforeRun", envelope("beforeRun", event, {}, { parts }))
    },
    beforeTool: async (event) => {
      const { toolCallId, toolName } = event.toolCall
      for (const [at, args] of calls(toolName, event.input).entries()) {
        const input = { tool: toolName, callID: `${toolCallId}:${at}` }
        const answer = await ask("beforeTool", envelope("beforeTool", event, input, { args }))
        if (answer.decision !== "block") continue
        refused.add(toolCallId)
        return { skip: true, reason: answer.reason }
      }
    },
    afterTool: async (event) => {
      const { toolCallId, toolName } = event.toolCall
      if (refused.delete(toolCallId)) return
      const { output, isError } = event.result
      const remarks = []
      for (const [at, args] of calls(toolName, event.input).entries()) {
        // Several commands have one result each.
        const result = toolName === "run_commands" && Array.isArray(output) ? output[at] : output
        const failed = isError === true || [result].flat().some((part) => part?.success === false)
        const input = { tool: toolName, callID: `${toolCallId}:${at}`, args }
        const answer = await ask("afterTool", envelope("afterTool", event, input, { output: result, isError: failed }))
        if (answer.additionalContext) remarks.push(answer.additionalContext)
      }
      if (remarks.length > 0) return { appendContext: remarks.join("\n") }
    },
    afterRun: async (event) => {
      if (event.snapshot.parentAgentId) return
      await ask("afterRun", envelope("afterRun", event, {}, {}))
    },
  },
}
