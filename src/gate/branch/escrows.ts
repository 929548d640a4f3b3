import type { Ledger } from '../object/ledger.ts';
import { type Escrow, escrowOf, giveBack, newEscrow, receiveGrant, unspent } from '../rules/escrow.ts';
import type { Grant } from '../rules/messages.ts';

/** What a branch was granted, by period. What it has spent of it is its ledger's count of the period. */
export const openBranchEscrows = (sql: SqlStorage, ledger: Pick<Ledger, 'periodUsage'>) => {
  type Stored = Omit<Escrow, 'spent'>;
  let stored: Stored[] = sql
    .exec<{ period_start_ms: number; granted: number; returned: number }>('SELECT * FROM escrows')
    .toArray()
    .map(({ period_start_ms: periodStartMs, granted, returned }) => ({ periodStartMs, granted, returned }));

  const all = (): Escrow[] =>
    stored.map((escrow) => ({ ...escrow, spent: ledger.periodUsage(escrow.periodStartMs) }));

  const save = ({ periodStartMs, granted, returned }: Escrow) => {
    const known = escrowOf(all(), periodStartMs);
    if (known?.granted === granted && known.returned === returned) return;
    const others = stored.filter((escrow) => escrow.periodStartMs !== periodStartMs);
    stored = [...others, { periodStartMs, granted, returned }];
    sql.exec(
      'INSERT OR REPLACE INTO escrows (period_start_ms, granted, returned) VALUES (?, ?, ?)',
      periodStartMs,
      granted,
      returned,
    );
  };

  return {
    all,
    unspent: (periodStartMs: number) => unspent(escrowOf(all(), periodStartMs), periodStartMs),

    receive: (grants: Grant[]) => {
      for (const { periodStartMs, granted } of grants)
        save(receiveGrant(escrowOf(all(), periodStartMs) ?? newEscrow(periodStartMs), granted));
    },

    giveBack: () => {
      for (const escrow of all()) save(giveBack(escrow));
    },

    forget: () => {
      stored = [];
      sql.exec('DELETE FROM escrows');
    },
  };
};

export type BranchEscrows = ReturnType<typeof openBranchEscrows>;
