// Finds the native program: the one that LICTOR_BINARY names, or the one in this platform's package.

import { createRequire } from 'node:module';
import { existsSync } from 'node:fs';
import { arch, env, platform } from 'node:process';

const require = createRequire(import.meta.url);

/** The path of the native program. Throws with the next step when there is none. */
export function program() {
  if (env.LICTOR_BINARY) {
    if (existsSync(env.LICTOR_BINARY)) return env.LICTOR_BINARY;
    throw new Error(`LICTOR_BINARY names \`${env.LICTOR_BINARY}\`, which does not exist`);
  }
  const name = `@lictor/cli-${platform}-${arch}`;
  try {
    return require.resolve(`${name}/bin/lictor`);
  } catch {
    throw new Error(
      `the package \`${name}\` with the native program is missing; install again without \`--omit=optional\`, ` +
        'or set LICTOR_BINARY to a built `lictor`',
    );
  }
}
