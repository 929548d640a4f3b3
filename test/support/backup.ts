import { afterAll, beforeAll } from 'vitest';
import { readBackup } from '../../src/operators/backup.ts';
import { restoreBackup } from '../../src/operators/restore.ts';
import { ctxOf } from './databases.ts';
import { withOperatorToken } from './operator.ts';
import { loseHints } from './outbox.ts';

/** Returns the backup of what an account's objects own. `meanwhile` runs after each of its lines. */
export const backUp = async (
  accountId: string,
  meanwhile: (line: string) => Promise<void> = async () => {},
): Promise<string> => {
  const lines: string[] = [];
  for await (const [line] of readBackup(ctxOf(accountId))) {
    lines.push(JSON.stringify(line));
    await meanwhile(lines.at(-1) ?? '');
  }
  return lines.join('\n');
};

/** Replaces what the objects own by a backup. */
export const restore = (accountId: string, backup: string) =>
  restoreBackup(ctxOf(accountId), new Response(backup).body, true);

/** Lets every test of a file call the service's operations, while no queue starts the work that a test does by itself. */
export const useOperator = (): void => {
  let stop: () => void;
  let hints: ReturnType<typeof loseHints>;
  beforeAll(() => {
    stop = withOperatorToken();
    hints = loseHints();
  });
  afterAll(() => {
    stop();
    hints.stop();
  });
};
