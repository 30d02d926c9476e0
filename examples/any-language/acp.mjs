// Governs an agent of the Agent Client Protocol, without dependencies. Name it in the editor in place of the agent:
//   node acp.mjs AGENT [ARGUMENTS…]
// It stands between the two, lets their messages through, and asks `lictor rpc` before the editor carries out a file access, a
// command or a permission of the agent; where the policy asks, the person is asked in the editor.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

const [program, ...words] = process.argv.slice(2);
const agent = spawn(program, words, { stdio: ['pipe', 'pipe', 'inherit'] });
const lictor = spawn('lictor', ['rpc'], { stdio: ['pipe', 'pipe', 'inherit'] });
const each = (input, heard) => createInterface({ input }).on('line', (line) => line.trim() && heard(JSON.parse(line)));
const send = (output, message) => output.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\n');

let last = 0;
/** Calls somebody and waits for the answer. */
const caller = (output, name) => {
  const waiting = new Map();
  return {
    call: (method, params) =>
      new Promise((resolve) => {
        const id = `${name}-${++last}`;
        waiting.set(id, resolve);
        send(output, { id, method, params });
      }),
    /** Whether a message is such an answer. */
    takes: (message) => {
      const resolve = waiting.get(message.id);
      if (!resolve || message.method) return false;
      waiting.delete(message.id);
      resolve(message);
      return true;
    },
  };
};
const rules = caller(lictor.stdin, 'rule');
const editor = caller(process.stdout, 'lictor');
const worker = caller(agent.stdin, 'lictor');
each(lictor.stdout, (message) => rules.takes(message));
const ask = async (method, params) => {
  const { result, error } = await rules.call(method, params);
  if (error) throw new Error(error.message);
  return result;
};

const quoted = (word) => (/^[\w./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);
/** What the agent wants, as an action; nothing for what only talks. */
function action({ method, params, id }) {
  const session = { session_id: params?.sessionId, agent: 'acp', tool_use_id: `${id}` };
  switch (method) {
    case 'fs/read_text_file':
      return { kind: 'read', payload: { path: params.path }, ...session };
    case 'fs/write_text_file':
      return { kind: 'write', payload: { path: params.path, content: params.content }, ...session };
    case 'terminal/create': {
      const command = [params.command, ...(params.args ?? []).map(quoted)].join(' ');
      return { kind: 'bash', payload: { command }, cwd: params.cwd ?? undefined, ...session };
    }
    case 'session/request_permission': {
      const { toolCallId, title, rawInput } = params.toolCall;
      const command = rawInput?.command;
      const what = typeof command === 'string' ? { kind: 'bash', payload: { command } } : { kind: 'tool', tool: title ?? 'tool', payload: rawInput ?? {} };
      return { ...what, ...session, tool_use_id: toolCallId };
    }
  }
}

const allows = (answer) => {
  const { outcome, optionId } = answer.result?.outcome ?? {};
  return outcome === 'selected' && optionId?.startsWith('allow');
};
/** Asks the person in the editor. */
async function person(message, reason) {
  const { sessionId, toolCall } = message.params;
  const call = toolCall ?? { toolCallId: `${message.id}`, title: `${message.method}: ${reason}` };
  const options = [
    { optionId: 'allow', name: 'Allow once', kind: 'allow_once' },
    { optionId: 'reject', name: 'Reject', kind: 'reject_once' },
  ];
  return allows(await editor.call('session/request_permission', { sessionId, toolCall: call, options }));
}

const commands = new Map();
const permitted = new Map();
/** Judges what the agent wants the editor to do, and has it done. */
async function governed(message) {
  const { id, method, params } = message;
  const judged = action(message);
  const permission = method === 'session/request_permission';
  const option = (word) => params.options?.find(({ kind }) => kind.startsWith(word))?.optionId;
  let evaluation = await ask('evaluate', { action: judged });
  const asked = evaluation.decision === 'ask';
  if (asked) {
    const approved = await person(message, evaluation.reason);
    evaluation = await ask('resolve', { id: evaluation.id, answers: evaluation.asked.map(() => approved) });
  }
  const chosen = (optionId) => ({ outcome: optionId ? { outcome: 'selected', optionId } : { outcome: 'cancelled' } });
  if (evaluation.decision === 'block') {
    const { reason, fix } = evaluation;
    const error = { code: -32000, message: fix ? `${reason}\nHow to go on: ${fix}` : reason };
    return send(agent.stdin, permission ? { id, result: chosen(option('reject')) } : { id, error });
  }
  if (permission) permitted.set(params.toolCall.toolCallId, judged);
  // The person has said yes already.
  if (permission && asked) return send(agent.stdin, { id, result: chosen(option('allow')) });
  const { result, error } = await editor.call(method, params);
  if (method === 'terminal/create' && result) commands.set(result.terminalId, judged);
  else if (!permission) await ask('post', { action: judged, outcome: { success: !error, error: error?.message } });
  send(agent.stdin, error ? { id, error } : { id, result });
}

/** Waits for a command of the agent and tells how it ended. */
async function awaited({ id, method, params }) {
  const { result, error } = await editor.call(method, params);
  const judged = commands.get(params.terminalId);
  commands.delete(params.terminalId);
  const exit_code = result?.exitCode ?? undefined;
  if (judged) await ask('post', { action: judged, outcome: { success: exit_code === 0, exit_code } });
  send(agent.stdin, error ? { id, error } : { id, result });
}

/** Tells how a call ended that the agent made itself, with permission. */
function happened({ update }) {
  const judged = permitted.get(update?.toolCallId);
  if (!judged || !['completed', 'failed'].includes(update.status)) return;
  permitted.delete(update.toolCallId);
  ask('post', { action: judged, outcome: { success: update.status === 'completed' } }).catch(() => {});
}

/** Hands a prompt to the agent, and sends it back to work as long as something is missing. */
async function prompted({ id, params }) {
  const session = { session_id: params.sessionId, agent: 'acp' };
  const text = params.prompt?.map(({ text = '' }) => text).join('\n');
  await ask('prompt', { ...session, text });
  let answer = await worker.call('session/prompt', params);
  while (answer.result?.stopReason === 'end_turn') {
    const { outcome, reasons } = await ask('stop', session);
    if (outcome !== 'incomplete') break;
    const prompt = [{ type: 'text', text: `Not finished:\n${reasons.join('\n')}` }];
    answer = await worker.call('session/prompt', { ...params, prompt });
  }
  send(process.stdout, answer.error ? { id, error: answer.error } : { id, result: answer.result });
}

/** What cannot be judged is not done. */
const closed = (to, work) => (message) =>
  work(message).catch(({ message: why }) => send(to, { id: message.id, error: { code: -32603, message: `not judged: ${why}` } }));
const judge = closed(agent.stdin, governed);
const wait = closed(agent.stdin, awaited);
const prompt = closed(process.stdout, prompted);

each(process.stdin, (message) => {
  if (editor.takes(message)) return;
  if (message.method === 'session/prompt') return prompt(message);
  send(agent.stdin, message);
}).on('close', () => agent.stdin.end());
each(agent.stdout, (message) => {
  if (worker.takes(message)) return;
  if (message.method && action(message)) return judge(message);
  if (message.method === 'terminal/wait_for_exit') return wait(message);
  if (message.method === 'session/update') happened(message.params);
  send(process.stdout, message);
});
agent.on('exit', (code) => {
  lictor.stdin.end();
  process.exitCode = code ?? 1;
});
lictor.on('exit', () => agent.kill());
