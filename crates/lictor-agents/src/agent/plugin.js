// A call that cannot be judged, for whatever reason, is refused.
import { spawn } from "node:child_process"

const BINARY = "@BINARY@"
// A program without a directory is looked for where it is usually installed, then on the search path.
const HOME = process.env.HOME ?? ""
const PATH = `${HOME}/.local/bin:${HOME}/.cargo/bin:${process.env.PATH ?? ""}`
const ENV = BINARY.includes("/") ? process.env : { ...process.env, PATH }

function ask(event, payload) {
  return new Promise((resolve) => {
    const refuse = (reason) => resolve({ decision: "block", fault: true, reason: `Blocked by Lictor: ${reason}` })
    let child
    try {
      child = spawn(BINARY, ["hook", "@AGENT@", event, "--confirm"], { cwd: payload.cwd, env: ENV, stdio: ["pipe", "pipe", "pipe"] })
    } catch (error) {
      return refuse(`${BINARY} cannot be started (${error.message})`)
    }
    const timer = setTimeout(() => {
      child.kill("SIGKILL")
      refuse("no answer in time")
    }, LIMIT_MS)
    let out = ""
    let err = ""
    child.stdout.on("data", (data) => (out += data))
    child.stderr.on("data", (data) => (err += data))
    child.stdin.on("error", () => {})
    child.on("error", (error) => {
      clearTimeout(timer)
      refuse(`${BINARY} cannot be started (${error.message})`)
    })
    child.on("close", (code) => {
      clearTimeout(timer)
      // Only Lictor ends like that when it has judged.
      if (code !== 80) return refuse(err.trim() || `${BINARY} ended with code ${code}`)
      if (out.trim() === "") return resolve({})
      try {
        resolve(JSON.parse(out))
      } catch {
        refuse("the answer is not JSON")
      }
    })
    child.stdin.end(JSON.stringify(payload))
  })
}

