#!/usr/bin/env node
// Starts the native program and ends as it ends. A hook that cannot be started must block: exit code 2, never 0.

import { spawnSync } from 'node:child_process';
import { program } from '../lib/program.js';

try {
  const { status, signal, error } = spawnSync(program(), process.argv.slice(2), { stdio: 'inherit' });
  if (error) throw error;
  if (signal) process.kill(process.pid, signal);
  process.exitCode = status ?? 2;
} catch (error) {
  console.error(`lictor: ${error.message}`);
  process.exitCode = 2;
}
