// The samples of verdikt's README in JavaScript, without dependencies: engine.evaluate before, engine.post_action after.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

const lictor = spawn('lictor', ['rpc'], { stdio: ['pipe', 'pipe', 'inherit'] });
const answers = createInterface({ input: lictor.stdout })[Symbol.asyncIterator]();
async function call(method, params) {
  lictor.stdin.write(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }) + '\n');
  const { result, error } = JSON.parse((await answers.next()).value);
  if (error) throw new Error(error.message);
  return result;
}
const engine = {
  evaluate: (action) => call('evaluate', { action }),
  post_action: (action, outcome) => call('post', { action, outcome }),
};
const bash = (command) => ({ kind: 'bash', payload: { command }, session_id: 'js' });
const deploy = (payload) => ({ kind: 'submit_task', task_type: 'deploy', payload, session_id: 'js' });

// A block stops the action, and says what to do instead.
const blocked = await engine.evaluate(bash('rm -rf /'));
const { reason, fix } = blocked.verdicts.find(({ guard }) => guard.endsWith('bash_safety'));
console.log(`rm -rf /: ${blocked.decision}: ${reason}`);
console.log(`fix: ${fix}`);

// What passes is done, and what came of it is told afterwards. State accumulates across evaluations.
const ls = bash('ls');
const passed = await engine.evaluate(ls);
const { standing } = await engine.post_action(ls, { success: true });
const { state } = await call('session', { session_id: 'js' });
console.log(`ls: ${passed.decision}, ${standing}; ${state.action_count} actions, ${state.block_count} blocked`);

// The trace is the path through the tree.
const names = passed.trace.map(({ name }) => name);
console.log(`asked: ${['bash_safety', 'file_boundary', 'budget', 'intent'].filter((name) => names.includes(name)).join(', ')}`);

// The tree: a deploy goes by its checklist, or around it with a warning.
console.log(`deploy with a ticket: ${(await engine.evaluate(deploy({ ticket: 'OPS-1' }))).decision}`);
console.log(`deploy without: ${(await engine.evaluate(deploy({}))).decision}`);
lictor.stdin.end();
