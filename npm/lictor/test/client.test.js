import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { Blocked, Lictor, LictorError, actionOf } from '../lib/index.js';
import { govern } from '../lib/ai-sdk.js';
import { middleware } from '../lib/langchain.js';

const binary = fileURLToPath(new URL('fake-rpc.js', import.meta.url));
const bash = (command) => ({ kind: 'bash', payload: { command } });

// The same cases that the Python package is tested with.
const TOOL_CALLS = readFileSync(new URL('../../../python/tests/tool_calls.jsonl', import.meta.url), 'utf8')
  .trim().split('\n').map((line) => JSON.parse(line));

function open(options = {}) {
  process.env.CALLS = join(mkdtempSync(join(tmpdir(), 'lictor-')), 'calls');
  return new Lictor({ binary, ...options });
}
const calls = () => readFileSync(process.env.CALLS, 'utf8').trim().split('\n').map((line) => JSON.parse(line));

test('a passed action runs and its outcome is recorded', async () => {
  const lictor = open();
  const { result, feedback } = await lictor.govern(bash('slow'), () => 42);
  assert.equal(result, 42);
  assert.deepEqual(feedback, ['hurry']);
  assert.deepEqual(calls().map(([method]) => method), ['evaluate', 'post']);
  await lictor.close();
});

test('a blocked action does not run', async () => {
  const lictor = open();
  let ran = false;
  await assert.rejects(lictor.govern(bash('rm x'), () => { ran = true; }), (error) => {
    assert.ok(error instanceof Blocked);
    assert.equal(error.message, 'Blocked by Lictor: it deletes\nHow to go on: list instead');
    return true;
  });
  assert.equal(ran, false);
  await lictor.close();
});

test('what the action throws is recorded as a failure and thrown again', async () => {
  const lictor = open();
  await assert.rejects(lictor.govern(bash('ls'), () => { throw new Error('no disk'); }), /no disk/);
  assert.deepEqual(calls()[1][1].outcome, { success: false, error: 'no disk' });
  await lictor.close();
});

test('a failure is told even when it cannot be recorded', async () => {
  const lictor = open();
  const fails = async () => { await lictor.evaluate(bash('die')).catch(() => {}); throw new Error('no disk'); };
  await assert.rejects(lictor.govern(bash('ls'), fails), /no disk/);
});

test('an ask without anybody to ask is a block', async () => {
  const lictor = open();
  await assert.rejects(lictor.permit(bash('deploy')), Blocked);
  await lictor.close();
});

test('a yes counts for every question, a no for none', async () => {
  for (const [yes, passes] of [[true, true], [false, false], [[true, true], true], [[true, false], false]]) {
    const lictor = open({ onAsk: async () => yes });
    const permit = lictor.permit(bash('deploy'));
    await (passes ? permit : assert.rejects(permit, Blocked));
    assert.equal(calls()[1][1].answers.length, 2);
    await lictor.close();
  }
});

test('a process that dies or prints garbage fails what is under way and everything after it', async () => {
  for (const command of ['die', 'garbage']) {
    const lictor = open();
    let ran = false;
    await assert.rejects(lictor.govern(bash(command), () => { ran = true; }), LictorError);
    await assert.rejects(lictor.evaluate(bash('ls')), LictorError);
    assert.equal(ran, false);
  }
  const missing = new Lictor({ binary: '/nowhere/lictor' });
  await assert.rejects(missing.evaluate(bash('ls')), /cannot start/);
});

test('an error of rpc carries its code and its fix', async () => {
  const lictor = open();
  await assert.rejects(lictor.evaluate(bash('wrong')), { message: 'no such kind', code: -32602, fix: 'use bash' });
  await lictor.close();
});

test('many calls at once get their own answers', async () => {
  const lictor = open();
  const answers = await Promise.all(Array.from({ length: 200 }, (_, n) => lictor.call('echo', { n })));
  assert.deepEqual(answers.map(({ params }) => params.n), Array.from({ length: 200 }, (_, n) => n));
  await lictor.close();
});

test('tools become actions by name and form of their arguments', () => {
  assert.deepEqual(actionOf({ name: 'bash', args: { command: 'ls' }, id: 'c1' }), { kind: 'bash', tool: 'bash', payload: { command: 'ls' }, tool_use_id: 'c1' });
  for (const { name, args, kinds, kind, path } of TOOL_CALLS) {
    const action = actionOf({ name, args, kinds });
    assert.equal(action.kind, kind, name);
    assert.equal(action.payload.path, path ?? args.path, name);
  }
  for (const name of ['lookup', 'constructor', 'toString', '__proto__']) {
    assert.deepEqual(actionOf({ name, args: {} }), { kind: 'tool', tool: name, payload: {} });
  }
});

test('a tool call is governed as the action it stands for', async () => {
  const lictor = open();
  await lictor.govern({ name: 'bash', args: { command: 'ls' }, id: 'c9' }, () => 'ran');
  assert.deepEqual(calls()[0][1].action, { kind: 'bash', tool: 'bash', payload: { command: 'ls' }, tool_use_id: 'c9' });
  await assert.rejects(lictor.govern({ name: 'bash', args: { command: 'rm x' } }, () => assert.fail('ran')), Blocked);
  await lictor.close();
});

test('an AI SDK tool that yields its result in pieces is done with the last one', async () => {
  const lictor = open();
  const tools = govern(lictor, {
    bash: { async *execute({ command }) { yield 'part'; if (command === 'slow') yield 'all'; else throw new Error('no disk'); } },
  });
  assert.equal(await tools.bash.execute({ command: 'slow' }, {}), 'all\n\nhurry');
  await assert.rejects(tools.bash.execute({ command: 'ls' }, {}), /no disk/);
  assert.deepEqual(calls().filter(([method]) => method === 'post').map(([, { outcome }]) => outcome.success), [true, false]);
  await lictor.close();
});

test('AI SDK tools are judged, and those that run elsewhere are listed', async () => {
  const lictor = open();
  const ran = [];
  const tools = govern(lictor, {
    bash: { description: 'shell', execute: async ({ command }) => { ran.push(command); return 'done'; } },
    search: { description: 'hosted' },
  });
  assert.equal(await tools.bash.execute({ command: 'slow' }, { toolCallId: 'c1' }), 'done\n\nhurry');
  await assert.rejects(tools.bash.execute({ command: 'rm x' }, {}), Blocked);
  assert.deepEqual(ran, ['slow']);
  assert.deepEqual(tools.ungoverned, ['search']);
  assert.equal(calls()[0][1].action.tool_use_id, 'c1');
  await lictor.close();
});

test('the LangChain middleware answers a block as a tool message and lets other errors through', async () => {
  const lictor = open();
  class ToolMessage { constructor(fields) { Object.assign(this, fields); } }
  const { wrapToolCall } = middleware(lictor, { createMiddleware: (definition) => definition, ToolMessage });
  const call = (command) => ({ toolCall: { name: 'bash', args: { command }, id: 'c1' } });
  const refused = await wrapToolCall(call('rm x'), () => assert.fail('ran'));
  assert.equal(refused.status, 'error');
  assert.match(refused.content, /it deletes/);
  const passed = await wrapToolCall(call('slow'), async () => new ToolMessage({ content: 'ok' }));
  assert.equal(passed.content, 'ok\n\nhurry');
  await assert.rejects(wrapToolCall(call('ls'), async () => { throw new TypeError('bug'); }), TypeError);
  await lictor.close();
});
