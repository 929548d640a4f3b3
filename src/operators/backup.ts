import type { Ctx } from '../db/ctx.ts';
import { AppError } from '../shared/app-error.ts';
import { gateOf, outboxOf } from '../shared/objects/address.ts';
import type {
  BackupCall,
  BackupCursor,
  BackupPage,
  BackupPart,
  BackupReply,
} from '../shared/objects/backup.ts';
import { isoTime } from '../shared/rules/dates.ts';

export const OBJECTS = ['gate', 'outbox'] as const;
export type ObjectName = (typeof OBJECTS)[number];

export const FORMAT = 1;

interface Header {
  type: 'backup';
  format: typeof FORMAT;
  id: string;
  account_id: string;
  at: string;
  /** The version of each object's tables. */
  steps: Record<ObjectName, number>;
}

export type Line = Header | ({ object: ObjectName } & BackupPart) | { type: 'end'; lines: number };

const REFUSALS: Record<NonNullable<BackupReply['refused']>, string> = {
  not_empty: 'The account has data. Pass ?replace=true to replace it by the backup.',
  other_release:
    'The backup is from a later release, or from one before v0.1.0. Restore it with that release.',
  moving: 'The account is moving to another region. Try again once it has arrived.',
};

/** Calls one of the account's objects. The types of RPC don't allow stored values of any type. */
export const callObject = async ({ env, accountId }: Ctx, name: ObjectName, call: BackupCall) => {
  const object = name === 'gate' ? gateOf(env, accountId) : outboxOf(env, accountId);
  const reply = await (object as unknown as { backup: (call: BackupCall) => Promise<BackupReply> }).backup(
    call,
  );
  if (reply.refused) throw new AppError('invalid_transition', { message: REFUSALS[reply.refused] });
  return reply;
};

const readPage = async (ctx: Ctx, name: ObjectName, cursor: BackupCursor | null): Promise<BackupPage> => {
  const { page } = await callObject(ctx, name, { kind: 'read', cursor });
  if (!page) throw new Error(`The ${name} returned no page.`);
  return page;
};

/** Reads what an account's objects own, a line a page. Each line is as of its own time: calls go on meanwhile. */
export async function* readBackup(ctx: Ctx): AsyncGenerator<[Line]> {
  const [gate, outbox] = await Promise.all([readPage(ctx, 'gate', null), readPage(ctx, 'outbox', null)]);
  const header: Header = {
    type: 'backup',
    format: FORMAT,
    id: crypto.randomUUID(),
    account_id: ctx.accountId,
    at: isoTime(Date.now()),
    steps: { gate: gate.steps, outbox: outbox.steps },
  };
  yield [header];
  let lines = 0;
  for (const name of OBJECTS) {
    let cursor: BackupCursor | null = null;
    do {
      const { part, next }: BackupPage = await readPage(ctx, name, cursor);
      if (part.type === 'values' || part.rows.length > 0) {
        yield [{ object: name, ...part }];
        lines++;
      }
      cursor = next;
    } while (cursor);
  }
  yield [{ type: 'end', lines }];
}
