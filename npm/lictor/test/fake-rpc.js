#!/usr/bin/env node
// Answers like `lictor rpc`, by the words of the command, so that the client is tested without the native program.
import { createInterface } from 'node:readline';
import { appendFileSync } from 'node:fs';

const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const base = { reason: '', fix: '', risk: 0, verdicts: [], violations: [], trace: [] };
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (process.env.CALLS) appendFileSync(process.env.CALLS, `${JSON.stringify([method, params])}\n`);
  const command = params.action?.payload?.command ?? '';
  if (command === 'die') process.exit(7);
  if (command === 'garbage') return process.stdout.write('not json\n');
  if (command === 'wrong') return say({ id, error: { code: -32602, message: 'no such kind', data: { fix: 'use bash' } } });
  if (method === 'evaluate') {
    const decision = command.startsWith('rm') ? 'block' : command.startsWith('deploy') ? 'ask' : 'pass';
    const asked = decision === 'ask' ? [{ message: 'sure?' }, { message: 'really?' }] : undefined;
    return say({ id, result: { ...base, id: 5, decision, asked, reason: decision === 'block' ? 'it deletes' : '', fix: 'list instead' } });
  }
  if (method === 'resolve') {
    return say({ id, result: { ...base, decision: params.answers.every(Boolean) ? 'pass' : 'block', reason: 'a person said no' } });
  }
  if (method === 'post') return say({ id, result: { standing: 'judged', feedback: command === 'slow' ? [{ provider: 'd', text: 'hurry' }] : [] } });
  say({ id, result: { method, params } });
});
