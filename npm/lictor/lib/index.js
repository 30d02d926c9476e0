// A client of `lictor rpc`: JSON-RPC 2.0 lines over the standard streams of one child process. It decides nothing itself.

import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { program } from './program.js';

export { program };

/** An error of Lictor's. `fix` says what to do next, where that is known. */
export class LictorError extends Error {
  constructor(message, { fix = '', code, data } = {}) {
    super(message);
    this.name = new.target.name;
    Object.assign(this, { fix, code, data });
  }
}

/** The policy stopped an action. The text is written for the agent's model: the reason, then the way on. */
export class Blocked extends LictorError {
  constructor(evaluation) {
    // Where a check failed, the details are the operator's: the model reads other words.
    const { reason, fix } = evaluation.for_agent ?? evaluation;
    super([`Blocked by Lictor: ${reason}`, fix && `How to go on: ${fix}`].filter(Boolean).join('\n'), { fix });
    this.reason = evaluation.reason;
    this.evaluation = evaluation;
  }
}

/** One governed project. Every answer comes from one `lictor rpc` process. */
export class Lictor {
  #child;
  #pending = new Map();
  #next = 1;
  #ended;
  #onAsk;

  /**
   * Starts the process. `cwd` is the project; `onAsk` is called with the evaluation when a person has to decide and
   * returns true, false, or one answer for each entry of `evaluation.asked`. Without `onAsk` an ask is a block.
   */
  constructor({ cwd = process.cwd(), binary = program(), args = [], onAsk } = {}) {
    this.#onAsk = onAsk;
    this.#child = spawn(binary, ['rpc', '--cwd', cwd, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#child.on('error', (error) => this.#end(new LictorError(`cannot start \`${binary}\`: ${error.message}`)));
    this.#child.on('exit', (code, signal) =>
      this.#end(new LictorError(`\`lictor rpc\` ended with ${signal ?? `exit code ${code}`}`)));
    this.#child.stdin.on('error', () => {});
    createInterface({ input: this.#child.stdout }).on('line', (line) => this.#answer(line));
    this.#child.unref();
  }

  /** Calls any method of `lictor rpc`. */
  call(method, params = {}) {
    if (this.#ended) return Promise.reject(this.#ended);
    return new Promise((resolve, reject) => {
      const id = this.#next++;
      this.#pending.set(id, { resolve, reject });
      this.#hold();
      this.#child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    });
  }

  evaluate(action, mode) {
    return this.call('evaluate', mode === undefined ? { action } : { action, mode });
  }
  post(action, outcome) {
    return this.call('post', { action, outcome });
  }
  stop(request) {
    return this.call('stop', request);
  }
  resolve(id, answers) {
    return this.call('resolve', { id, answers });
  }
  prompt(request) {
    return this.call('prompt', request);
  }
  delegate(request) {
    return this.call('delegate', request);
  }
  session(session_id, agent = '') {
    return this.call('session', { session_id, agent });
  }
  reset(session_id, agent = '') {
    return this.call('reset', { session_id, agent });
  }
  end(session_id, agent = '') {
    return this.call('end', { session_id, agent });
  }
  approvals() {
    return this.call('approvals');
  }
  record(finding) {
    return this.call('record', { finding });
  }
  gate(event) {
    return this.call('gate', { event });
  }

  /**
   * Judges an action or a tool call (`{name, args, id}`, as `actionOf` takes it), runs it if it may run, and records the
   * outcome. Gives `{result, evaluation, feedback}`. Throws `Blocked` when it may not run; what `run` throws is recorded as
   * a failure and thrown again.
   */
  async govern(call, run) {
    const action = call.kind === undefined ? actionOf(call) : call;
    const evaluation = await this.permit(action);
    let result;
    try {
      result = await run();
    } catch (error) {
      // What went wrong is the caller's to know, whether or not it could be recorded.
      await this.post(action, { success: false, error: String(error?.message ?? error) }).catch(() => {});
      throw error;
    }
    const { feedback = [] } = await this.post(action, { success: true });
    return { result, evaluation, feedback: feedback.map(({ text }) => text) };
  }

  /** Judges an action and puts questions to `onAsk`. Gives the evaluation under which it may run, or throws `Blocked`. */
  async permit(action) {
    let evaluation = await this.evaluate(action);
    if (evaluation.decision === 'ask' && this.#onAsk) {
      evaluation = await this.resolve(evaluation.id, answers(await this.#onAsk(evaluation), evaluation));
    }
    if (evaluation.decision !== 'pass' && evaluation.decision !== 'warn') throw new Blocked(evaluation);
    return evaluation;
  }

  /** Ends the process after the calls that are under way. */
  async close() {
    if (this.#ended) return;
    const exited = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#child.stdin.end();
    this.#child.ref();
    await exited;
  }

  async [Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose')]() {
    await this.close();
  }

  #answer(line) {
    let message;
    try {
      message = JSON.parse(line);
    } catch {
      return this.#end(new LictorError('`lictor rpc` printed a line that is not JSON'));
    }
    const waiting = this.#pending.get(message.id);
    if (!waiting) return;
    this.#pending.delete(message.id);
    this.#hold();
    const { error, result } = message;
    if (!error) return waiting.resolve(result);
    waiting.reject(new LictorError(error.message, { code: error.code, data: error.data, fix: error.data?.fix }));
  }

  /** The program stays alive exactly as long as an answer is awaited. */
  #hold() {
    const busy = this.#pending.size > 0;
    for (const stream of [this.#child, this.#child.stdout, this.#child.stdin]) busy ? stream.ref?.() : stream.unref?.();
  }

  #end(error) {
    this.#ended ??= error;
    for (const { reject } of this.#pending.values()) reject(this.#ended);
    this.#pending.clear();
    this.#child.kill();
    this.#hold();
  }
}

/** One answer for each question. One boolean counts for all of them. */
function answers(given, evaluation) {
  return Array.isArray(given) ? given : (evaluation.asked ?? [null]).map(() => given === true);
}

/** Tools by their usual names, the same as in Python. Names that are not here are judged as tools. */
const KINDS = new Map(Object.entries({
  bash: ['bash', 'shell', 'exec', 'run_command', 'execute_command', 'terminal'],
  read: ['read', 'read_file', 'readfile', 'view_file'],
  write: ['write', 'write_file', 'writefile', 'create_file', 'edit', 'edit_file', 'multiedit'],
  fetch: ['fetch', 'web_fetch', 'webfetch', 'fetch_url'],
}).flatMap(([kind, names]) => names.map((name) => [name, kind])));

/** The argument that has to be text for a name to be believed. */
const FIELDS = { bash: 'command', read: 'path', write: 'path', fetch: 'url' };

/**
 * An action from a tool's name and arguments. `kinds` states the kind of the program's own tools: `{my_shell: 'bash'}`; a call
 * that then lacks what its kind needs is blocked. A tool that is only known by its usual name needs arguments of the usual form,
 * or it is judged as a tool.
 */
export function actionOf({ name, args = {}, id, session_id, cwd, kinds = {} }) {
  const stated = Object.hasOwn(kinds, name) ? kinds[name] : undefined;
  let kind = stated ?? KINDS.get(name.toLowerCase()) ?? 'tool';
  let payload = args;
  if ((kind === 'read' || kind === 'write') && typeof args.file_path === 'string') {
    // The other usual name of it. Two different paths are nothing that is known.
    payload = { path: args.file_path, ...args };
    if (stated === undefined && payload.path !== args.file_path) kind = 'tool';
  }
  if (stated === undefined && kind !== 'tool' && typeof payload[FIELDS[kind]] !== 'string') kind = 'tool';
  const action = { kind, tool: name, payload };
  for (const [key, value] of Object.entries({ tool_use_id: id, session_id, cwd })) {
    if (value !== undefined) action[key] = value;
  }
  return action;
}
