import { and, eq } from 'drizzle-orm';
import type { Journal } from '../shared/objects/journal.ts';
import { ownValue } from '../shared/objects/own-values.ts';
import { logError } from '../shared/text/log.ts';
import type { AccountDatabase } from './client.ts';
import { objectStates } from './schema.ts';

export interface ObjectState {
  loading: number;
  waiting: number;
  failingEndpoints: number;
  /** Rows that a gate keeps although D1 has lost them. */
  orphans: number;
}

export const USUAL: ObjectState = { loading: 0, waiting: 0, failingEndpoints: 0, orphans: 0 };
const INTERVAL_MS = 60_000;
const REPORTED = ownValue('reported_state');

interface Parts {
  kv: SyncKvStorage;
  journal: Pick<Journal, 'write'>;
  db: () => AccountDatabase;
  accountId: string;
  object: 'gate' | 'outbox';
}

/** Lets a Durable Object report its state to D1 when it has changed. Never fails: the metrics are worth no error. */
export const openStateReport = ({ kv, journal, db, accountId, object }: Parts) => {
  let reported = kv.get<ObjectState>(REPORTED) ?? USUAL;
  let nextMs = 0;

  const write = async (state: ObjectState) => {
    const key = and(eq(objectStates.accountId, accountId), eq(objectStates.object, object));
    await (JSON.stringify(state) === JSON.stringify(USUAL)
      ? db().delete(objectStates).where(key)
      : db()
          .insert(objectStates)
          .values({ accountId, object, ...state })
          .onConflictDoUpdate({ target: [objectStates.accountId, objectStates.object], set: state }));
  };

  return async (state: ObjectState): Promise<void> => {
    const nowMs = Date.now();
    if (nowMs < nextMs || JSON.stringify(state) === JSON.stringify(reported)) return;
    nextMs = nowMs + INTERVAL_MS;
    try {
      await write(state);
      reported = state;
      journal.write(() => kv.put(REPORTED, state));
    } catch (error) {
      logError('state_not_reported', error, { account_id: accountId });
    }
  };
};
