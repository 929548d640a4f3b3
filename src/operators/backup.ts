import type { Ctx } from '../db/ctx.ts';
import { AppError } from '../shared/app-error.ts';
import { gateOf, outboxOf } from '../shared/objects/address.ts';
import type { BackupCall, BackupCursor, BackupPage, BackupReply } from '../shared/objects/backup.ts';
import type { BackupPart } from '../shared/objects/stage.ts';
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

type Refusal = NonNullable<BackupReply['refused']>;

const REFUSALS: Record<Refusal, string> = {
  not_empty: 'The account has data. Pass ?replace=true to replace it by the backup.',
  other_release:
    'The backup is from a later release, or from one before v0.1.0. Restore it with that release.',
  moving: 'The account is moving to another region. Try again once it has arrived.',
  stage_gone: 'Another restore of the account has begun, or something of it was erased. Restore it again.',
};

/** What a restore had brought so far is gone, and it has to begin again. */
export class StageGone extends AppError {}

const refuse = (refused: Refusal): AppError => {
  const Refused = refused === 'stage_gone' ? StageGone : AppError;
  return new Refused('invalid_transition', { message: REFUSALS[refused] });
};

/** Calls one of the account's objects. The types of RPC don't allow stored values of any type. */
export const callObject = async ({ env, accountId }: Ctx, name: ObjectName, call: BackupCall) => {
  const object = name === 'gate' ? gateOf(env, accountId) : outboxOf(env, accountId);
  const reply = await (object as unknown as { backup: (call: BackupCall) => Promise<BackupReply> }).backup(
    call,
  );
  if (reply.refused) throw refuse(reply.refused);
  return reply;
};

const readPage = async (ctx: Ctx, name: ObjectName, cursor: BackupCursor | null): Promise<BackupPage> => {
  const { page } = await callObject(ctx, name, { kind: 'read', cursor });
  if (!page) throw new Error(`The ${name} returned no page.`);
  return page;
};

/** Where the reading of an account's objects goes on. */
export interface BackupPlace extends Pick<Header, 'id' | 'steps'> {
  /** The number of an object. */
  object: number;
  cursor: BackupCursor | null;
  /** How many lines came before. */
  lines: number;
}

interface PlacedLine {
  /** That of the first line. */
  id: string;
  line: Line;
  /** Null after the last line. */
  next: BackupPlace | null;
}

const begin = async (ctx: Ctx): Promise<Header> => {
  const [gate, outbox] = await Promise.all([readPage(ctx, 'gate', null), readPage(ctx, 'outbox', null)]);
  return {
    type: 'backup',
    format: FORMAT,
    id: crypto.randomUUID(),
    account_id: ctx.accountId,
    at: isoTime(Date.now()),
    steps: { gate: gate.steps, outbox: outbox.steps },
  };
};

async function* readRest(ctx: Ctx, from: BackupPlace): AsyncGenerator<PlacedLine> {
  const { id, steps } = from;
  let { object, cursor, lines } = from;
  for (let name = OBJECTS[object]; name; name = OBJECTS[object]) {
    const { part, next }: BackupPage = await readPage(ctx, name, cursor);
    if (!next) object++;
    cursor = next;
    if (part.type === 'rows' && part.rows.length === 0) continue;
    lines++;
    yield { id, line: { object: name, ...part }, next: { id, steps, object, cursor, lines } };
  }
  yield { id, line: { type: 'end', lines }, next: null };
}

/** Whether an object has other tables by now, whose rows don't go with those that were read. */
const isOutdated = async (ctx: Ctx, { object, cursor, steps }: BackupPlace): Promise<boolean> => {
  const name = OBJECTS[object];
  return name !== undefined && (await readPage(ctx, name, cursor)).steps !== steps[name];
};

/**
 * Reads what an account's objects own, a line a page, from a place or from the beginning. Each line is as of its own time: calls
 * go on meanwhile.
 */
export async function* readBackupFrom(ctx: Ctx, from: BackupPlace | null): AsyncGenerator<PlacedLine> {
  let place = from;
  if (!place || (await isOutdated(ctx, place))) {
    const header = await begin(ctx);
    const { id, steps } = header;
    place = { id, steps, object: 0, cursor: null, lines: 0 };
    yield { id, line: header, next: place };
  }
  yield* readRest(ctx, place);
}

export async function* readBackup(ctx: Ctx): AsyncGenerator<[Line]> {
  for await (const { line } of readBackupFrom(ctx, null)) yield [line];
}
