import * as z from 'zod';
import type { Ctx } from '../db/ctx.ts';
import { AppError } from '../shared/app-error.ts';
import { callObject, FORMAT, type Line, type ObjectName, OBJECTS } from './backup.ts';

/** The longest line has a page of rows, see `openDisk`. */
const MAX_LINE_CHARACTERS = 8_000_000;

const cell = z.union([z.string(), z.number(), z.null()]);
const object = z.enum(OBJECTS);
const lineSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('backup'),
    format: z.literal(FORMAT),
    id: z.string(),
    account_id: z.string(),
    at: z.string(),
    steps: z.record(object, z.number()),
  }),
  z.object({
    type: z.literal('rows'),
    object,
    table: z.string().regex(/^\w+$/),
    columns: z.array(z.string().regex(/^\w+$/)),
    rows: z.array(z.array(cell)),
  }),
  z.object({ type: z.literal('values'), object, values: z.array(z.tuple([z.string(), z.unknown()])) }),
  z.object({ type: z.literal('end'), lines: z.number() }),
]);

const invalid = (message: string) => new AppError('invalid_request', { message });

async function* readLines(body: ReadableStream<Uint8Array>): AsyncGenerator<z.infer<typeof lineSchema>> {
  let rest = '';
  const decoder = new TextDecoder();
  const parse = (text: string) => {
    try {
      return lineSchema.parse(JSON.parse(text));
    } catch {
      throw invalid('A line is not of a backup.');
    }
  };
  for await (const chunk of body) {
    rest += decoder.decode(chunk, { stream: true });
    if (rest.length > MAX_LINE_CHARACTERS) throw invalid('A line is too long.');
    const complete = rest.split('\n');
    rest = complete.pop() ?? '';
    for (const text of complete) yield parse(text);
  }
  if (rest.trim() !== '') yield parse(rest);
}

/** A restore of an account's objects. Several may be under way at once: only the one that began last is completed. */
export interface AccountRestore {
  /** The id in the first line of the backup. */
  id: string;
  /** The name under which the objects stage what they receive. */
  stage: string;
  replaces: boolean;
  /** The objects that are restored. */
  names: readonly ObjectName[];
}

/** The object restarts, which fails the call. */
const commit = async (ctx: Ctx, name: ObjectName, { id, stage }: AccountRestore): Promise<void> => {
  let cause: unknown;
  try {
    await callObject(ctx, name, { kind: 'commit', id, stage });
  } catch (error) {
    cause = error;
  }
  // An object of the release before says no stage.
  const { restoredId, restoredStage = stage } = await callObject(ctx, name, { kind: 'restored' });
  // No AppError, after which the caller would take it that nothing has changed.
  if (restoredId !== id || restoredStage !== stage)
    throw cause ?? new Error(`The ${name} has not taken the backup.`);
};

const commitAll = async (ctx: Ctx, restore: AccountRestore): Promise<void> => {
  for (const [i, name] of restore.names.entries())
    try {
      await commit(ctx, name, restore);
    } catch (error) {
      throw i === 0 ? error : new Error(`Only the ${name} has not taken the backup.`, { cause: error });
    }
};

/** Stages a line in the account's objects. The last line lets them take what was staged. */
export const restoreLine = async (ctx: Ctx, restore: AccountRestore, line: Line): Promise<void> => {
  const { id, stage, replaces, names } = restore;
  if (line.type === 'backup') {
    for (const name of names)
      await callObject(ctx, name, { kind: 'begin', id, steps: line.steps[name], replaces, stage });
  } else if (line.type === 'end') await commitAll(ctx, restore);
  else if (names.includes(line.object)) {
    const { object: name, ...part } = line;
    await callObject(ctx, name, { kind: 'part', part, stage });
  }
};

/**
 * Replaces what an account's objects own by a backup. Nothing changes before the end of the backup has arrived. A repeat has
 * the same result. Of two at once, the one that began first fails. Returns the number of lines.
 */
export const restoreBackup = async (
  ctx: Ctx,
  body: ReadableStream<Uint8Array> | null,
  replaces: boolean,
): Promise<{ lines: number }> => {
  if (!body) throw invalid('The backup is empty.');
  let restore: AccountRestore | null = null;
  let lines = 0;
  for await (const next of readLines(body)) {
    if (next.type === 'backup') {
      if (next.account_id !== ctx.accountId) throw invalid('The backup is of another account.');
      restore = { id: next.id, stage: crypto.randomUUID(), replaces, names: OBJECTS };
    }
    if (restore === null) throw invalid('The backup has no first line.');
    if (next.type === 'end' && next.lines !== lines) throw invalid('Lines of the backup are missing.');
    await restoreLine(ctx, restore, next);
    if (next.type === 'end') return { lines };
    if (next.type !== 'backup') lines++;
  }
  throw invalid('The backup was cut off.');
};
