// The adapters against the real frameworks with their own mock models, and the real `lictor rpc`. `cargo xtask frameworks
// javascript` installs the frameworks into the directory that LICTOR_FRAMEWORKS names.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';

import { govern } from '../lib/ai-sdk.js';
import { Lictor } from '../lib/index.js';
import { middleware } from '../lib/langchain.js';

const installed = process.env.LICTOR_FRAMEWORKS;
const skip = installed ? false : 'LICTOR_FRAMEWORKS names no directory';
const binary = process.env.LICTOR_RPC ?? fileURLToPath(new URL('../../../target/debug/lictor', import.meta.url));
const load = (name) => import(pathToFileURL(createRequire(join(installed, 'package.json')).resolve(name)).href);

const POLICY = `
version: 1
guards:
  careful:
    expr: '!(action.kind == "bash" && payload.command.startsWith("deploy"))'
    decision: ask
    reason: "deploy now?"
    fix: ask a person
  broken: {expr: 'payload.command != "broken" || payload.missing == 1', reason: "no", fix: "no"}
policy: {all: [careful, broken]}
feedback:
  - {name: hint, every_n_calls: 1, say: "keep it small"}
`;

function open(onAsk) {
  const home = mkdtempSync(join(tmpdir(), 'lictor-'));
  const cwd = join(home, 'project');
  mkdirSync(cwd);
  writeFileSync(join(cwd, 'governance.yaml'), POLICY);
  for (const name of ['XDG_STATE_HOME', 'XDG_CONFIG_HOME', 'LICTOR_STATE_DIR']) delete process.env[name];
  process.env.HOME = home;
  return new Lictor({ binary, cwd, onAsk });
}

/** What every adapter has to do. `run` makes one turn of parallel calls of `bash` and gives what the model read, by call. */
function conforms(name, run) {
  const commands = (...all) => all.map((command, index) => ({ id: `c${index}`, command }));

  test(`${name}: a block is told and does not run, and feedback is appended`, { skip }, async () => {
    const lictor = open();
    const ran = [];
    const told = await run(lictor, commands('ls', 'rm -rf ~', 'broken', 'pwd'), ran);
    assert.deepEqual(ran.sort(), ['ls', 'pwd']);
    assert.match(told.c0, /ran ls/);
    assert.match(told.c0, /keep it small/);
    assert.match(told.c1, /Blocked by Lictor/);
    assert.match(told.c1, /How to go on/);
    assert.match(told.c2, /Blocked by Lictor/);
    assert.doesNotMatch(told.c2, /payload\.missing/);
    const { state } = await lictor.session('s1');
    assert.equal(state.success_count, 2);
    await lictor.close();
  });

  for (const approved of [true, false]) {
    test(`${name}: a question is asked once and ${approved ? 'a yes' : 'a no'} counts`, { skip }, async () => {
      const asked = [];
      const lictor = open((evaluation) => { asked.push(evaluation.reason); return approved; });
      const ran = [];
      await run(lictor, commands('deploy'), ran);
      assert.equal(asked.length, 1);
      assert.match(asked[0], /deploy now\?/);
      assert.deepEqual(ran, approved ? ['deploy'] : []);
      await lictor.close();
    });
  }

  test(`${name}: nothing runs when Lictor is gone`, { skip }, async () => {
    const lictor = open();
    await lictor.close();
    const ran = [];
    await run(lictor, commands('ls'), ran).catch(() => {});
    assert.deepEqual(ran, []);
  });
}

conforms('AI SDK', async (lictor, calls, ran) => {
  const { generateText, jsonSchema, stepCountIs, tool } = await load('ai');
  const testing = await load('ai/test');
  const Mock = testing.MockLanguageModelV4 ?? testing.MockLanguageModelV3;
  const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 }, totalTokens: 2 };
  const turns = [
    {
      content: calls.map(({ id, command }) =>
        ({ type: 'tool-call', toolCallId: id, toolName: 'bash', input: JSON.stringify({ command }) })),
      finishReason: { unified: 'tool-calls', raw: 'tool-calls' }, usage, warnings: [],
    },
    { content: [{ type: 'text', text: 'done' }], finishReason: { unified: 'stop', raw: 'stop' }, usage, warnings: [] },
  ];
  const prompts = [];
  const model = new Mock({ doGenerate: async ({ prompt }) => { prompts.push(prompt); return turns[prompts.length - 1]; } });
  const bash = tool({
    description: 'runs a command',
    inputSchema: jsonSchema({ type: 'object', properties: { command: { type: 'string' } }, required: ['command'] }),
    execute: async ({ command }) => { ran.push(command); return `ran ${command}`; },
  });
  const tools = govern(lictor, { bash, hosted: { type: 'provider' } }, { session_id: 's1' });
  assert.deepEqual(tools.ungoverned, ['hosted']);
  await generateText({ model, tools: { bash: tools.bash }, prompt: 'go', stopWhen: stepCountIs(3) });
  const results = prompts.at(-1).filter(({ role }) => role === 'tool').flatMap(({ content }) => content);
  return Object.fromEntries(results.map(({ toolCallId, output }) => [toolCallId, JSON.stringify(output.value)]));
});

conforms('LangChain.js', async (lictor, calls, ran) => {
  const { createAgent, createMiddleware, fakeModel, tool } = await load('langchain');
  const { AIMessage, ToolMessage } = await load('@langchain/core/messages');
  const bash = tool(async ({ command }) => { ran.push(command); return `ran ${command}`; }, {
    name: 'bash',
    description: 'runs a command',
    schema: { type: 'object', properties: { command: { type: 'string' } }, required: ['command'] },
  });
  const model = fakeModel()
    .respond(new AIMessage({ content: '', tool_calls: calls.map(({ id, command }) => ({ id, name: 'bash', args: { command } })) }))
    .respond(new AIMessage('done'));
  const agent = createAgent({
    model, tools: [bash], middleware: [middleware(lictor, { createMiddleware, ToolMessage, session_id: 's1' })],
  });
  const { messages } = await agent.invoke({ messages: [{ role: 'user', content: 'go' }] });
  const results = messages.filter((message) => message instanceof ToolMessage);
  return Object.fromEntries(results.map(({ tool_call_id, content }) => [tool_call_id, content]));
});
