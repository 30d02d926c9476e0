import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const launcher = fileURLToPath(new URL('../bin/lictor.js', import.meta.url));

function run(script) {
  const file = join(mkdtempSync(join(tmpdir(), 'lictor-')), 'lictor');
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
  return spawnSync(process.execPath, [launcher, 'a', 'b c'], { env: { ...process.env, LICTOR_BINARY: file }, encoding: 'utf8' });
}

test('arguments, output and exit code are handed on', () => {
  const { stdout, status } = run('printf "%s|" "$@"; exit 3');
  assert.equal(stdout, 'a|b c|');
  assert.equal(status, 3);
});

test('a signal ends the launcher too', () => {
  assert.equal(run('kill -TERM $$').signal, 'SIGTERM');
});

test('a missing program blocks and says what to do', () => {
  for (const binary of ['/nowhere/lictor', '']) {
    const { stderr, status } = spawnSync(process.execPath, [launcher], { env: { ...process.env, LICTOR_BINARY: binary }, encoding: 'utf8' });
    assert.equal(status, 2);
    assert.match(stderr, /does not exist|install again/);
  }
});
