import type { LogFields } from '../text/log.ts';
import { type Alarm, openAlarm } from './alarm.ts';
import { type Journal, openJournal } from './journal.ts';

/** What each part of a Durable Object of an account may use. */
export interface ObjectContext {
  ctx: DurableObjectState;
  env: Env;
  accountId: string;
  journal: Journal;
  alarm: Pick<Alarm, 'add' | 'arm'>;
}

/** `fields` are added to the object's log lines. */
export const openObject = (
  ctx: DurableObjectState,
  env: Env,
  accountId: string,
  fields: LogFields = {},
): ObjectContext & { alarm: Alarm } => {
  const alarm = openAlarm(ctx, { account_id: accountId, ...fields });
  return { ctx, env, accountId, alarm, journal: openJournal(ctx, alarm) };
};
