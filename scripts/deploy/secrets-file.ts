// The file from which wrangler takes the secrets, which it takes in no other way. It exists only while wrangler runs.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Secrets } from './recovery.ts';

/** What ends the command from outside, for example Ctrl-C. By default, it would end at once and leave the file behind. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

const exit = (signal: NodeJS.Signals) => process.exit(128 + constants.signals[signal]);

export const linesOf = (secrets: Secrets): string =>
  Object.entries(secrets)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');

export const withSecretsFile = async (
  secrets: Secrets,
  use: (file: string) => Promise<void>,
): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-deploy-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  process.on('exit', remove);
  for (const signal of SIGNALS) process.on(signal, exit);
  try {
    const file = join(folder, 'secrets');
    writeFileSync(file, linesOf(secrets), { mode: 0o600 });
    await use(file);
  } finally {
    remove();
    process.off('exit', remove);
    for (const signal of SIGNALS) process.off(signal, exit);
  }
};
