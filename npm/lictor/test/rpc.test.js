// The client against the real `lictor rpc`. `cargo build --bin lictor` makes the program; LICTOR_RPC names another one.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { Blocked, Lictor, actionOf } from '../lib/index.js';

const binary = process.env.LICTOR_RPC ?? fileURLToPath(new URL('../../../target/debug/lictor', import.meta.url));
const skip = existsSync(binary) ? false : `there is no program at ${binary}`;

const POLICY = `
version: 1
guards:
  careful: {expr: 'action.task_type != "deploy"', decision: ask, reason: "deploy now?", fix: ask a person}
policy: careful
completion: {files: [report.md]}
feedback:
  - {name: hint, every_n_calls: 1, say: "keep it small"}
`;

function open(options = {}) {
  const home = mkdtempSync(join(tmpdir(), 'lictor-'));
  const cwd = join(home, 'project');
  mkdirSync(cwd);
  writeFileSync(join(cwd, 'governance.yaml'), POLICY);
  for (const name of ['XDG_STATE_HOME', 'XDG_CONFIG_HOME', 'LICTOR_STATE_DIR']) delete process.env[name];
  process.env.HOME = home;
  return { cwd, lictor: new Lictor({ binary, cwd, ...options }) };
}
const bash = (command) => actionOf({ name: 'bash', args: { command }, session_id: 's1' });
const deploy = { kind: 'submit_task', task_type: 'deploy', payload: {}, session_id: 's1' };

test('a whole session', { skip }, async () => {
  const { cwd, lictor } = open();
  const { result, feedback } = await lictor.govern(bash('ls'), () => 42);
  assert.equal(result, 42);
  assert.match(feedback.join(), /keep it small/);
  await assert.rejects(lictor.govern(bash('rm -rf ~'), () => assert.fail('ran')), Blocked);
  const stopped = await lictor.stop({ session_id: 's1' });
  assert.equal(stopped.outcome, 'incomplete');
  assert.match(stopped.reasons.join(), /report\.md/);
  writeFileSync(join(cwd, 'report.md'), 'done');
  assert.equal((await lictor.stop({ session_id: 's1' })).outcome, 'complete');
  assert.equal((await lictor.session('s1')).state.block_count, 1);
  await lictor.end('s1');
  await lictor.close();
});

test('a question is answered, and without anybody to ask it is a block', { skip }, async () => {
  for (const answer of [true, false]) {
    const { lictor } = open({ onAsk: () => answer });
    const permit = lictor.permit(deploy);
    await (answer ? permit : assert.rejects(permit, Blocked));
    await lictor.close();
  }
  const { lictor } = open();
  await assert.rejects(lictor.permit(deploy), Blocked);
  await lictor.close();
});

test('a wrong call is told with its fix', { skip }, async () => {
  const { lictor } = open();
  await assert.rejects(lictor.call('nonsense'), (error) => /nonsense/.test(error.message) && error.fix !== '');
  await lictor.close();
});
