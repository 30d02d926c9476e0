// A governed program in JavaScript, without dependencies: `lictor rpc` beside it, one JSON message a line.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

const lictor = spawn('lictor', ['rpc'], { stdio: ['pipe', 'pipe', 'inherit'] });
const waiting = new Map();
let last = 0;

createInterface({ input: lictor.stdout }).on('line', (line) => {
  const { id, result, error } = JSON.parse(line);
  const { resolve, reject } = waiting.get(id);
  waiting.delete(id);
  error ? reject(Object.assign(new Error(error.message), error.data)) : resolve(result);
});

function call(method, params) {
  return new Promise((resolve, reject) => {
    const id = ++last;
    waiting.set(id, { resolve, reject });
    lictor.stdin.write(JSON.stringify({ jsonrpc: '2.0', id, method, params }) + '\n');
  });
}

/** Does something only if the policy lets it; a person answers where the policy asks. */
async function governed(action, person, deed) {
  let evaluation = await call('evaluate', { action });
  if (evaluation.decision === 'ask') {
    const answers = evaluation.asked.map(({ message }) => person(message));
    evaluation = await call('resolve', { id: evaluation.id, answers });
  }
  if (evaluation.decision === 'block') return `refused: ${evaluation.reason}`;
  const result = deed();
  await call('post', { action, outcome: { success: true, usage: { tokens: 120 } } });
  return result;
}

const publish = (page) => ({ kind: 'submit_task', task_type: 'publish', payload: { page }, session_id: 'node' });
const yes = (message) => (console.log(`asked: ${message}`), true);
const no = () => ({ approved: false, reason: 'not on a Friday' });

console.log(await governed(publish('notes.txt'), yes, () => 'published notes.txt'));
console.log(await governed(publish('notes.md'), yes, () => 'published notes.md'));
console.log(await governed(publish('news.md'), no, () => 'published news.md'));
await call('evaluate', { acton: {} }).catch(({ kind, fix }) => console.log(`${kind}: ${fix}`));
const { state } = await call('session', { session_id: 'node' });
console.log(`${state.action_count} actions, ${state.usage.tokens} tokens`);
lictor.stdin.end();
