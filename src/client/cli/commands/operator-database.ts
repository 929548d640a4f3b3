import { setTimeout as delay } from 'node:timers/promises';
import { command } from '../command.ts';
import { CliError } from '../failure.ts';
import { openOperator } from '../operator.ts';

interface Move {
  from: string;
  to: string;
  rows: number;
  started_at: string;
  problem: string | null;
}

interface Moving {
  database: string;
  move: (Move & { step: string; refusing_for_seconds: number }) | null;
  last_move: (Move & { ended_at: string; refused_for_seconds: number }) | null;
}

const ASK_MS = 2_000;

export const moveDatabase = command({
  name: 'operator move-database',
  args: ['ACCOUNT_ID', 'DATABASE'],
  summary: 'Move an account to another D1 database, and wait until it is there',
  details: [
    'Calls are answered meanwhile, and changes to the account get 503 for a few seconds or minutes. DATABASE is a name in DATABASES. Can be interrupted and started again: the move continues by itself.',
  ],
  options: {
    cancel: { help: 'Leave the account where it is, unless it is in the other database already' },
  },
  run: async (context, [id = '', database = ''], { cancel }) => {
    const operator = await openOperator(context);
    const path = `/accounts/${id}/database`;
    let found = cancel
      ? await operator.delete<Moving>(path)
      : await operator.post<Moving>(path, { database });
    while (found.move) {
      context.out.progress(`${found.move.step}: ${found.move.rows} rows…`);
      await delay(ASK_MS);
      found = await operator.get<Moving>(path);
    }
    const { last_move: last } = found;
    context.out.fields(found, {
      database: found.database,
      rows: last?.rows ?? 0,
      'changes refused for seconds': last?.refused_for_seconds ?? 0,
      ended: last?.ended_at ?? null,
      problem: last?.problem ?? null,
    });
    if (cancel || found.database === database) return 0;
    throw new CliError(`The account stays in ${found.database}.`, {
      ...(last?.problem && { advice: last.problem }),
    });
  },
});
