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

/** The object restarts, which fails the call. */
const commit = async (ctx: Ctx, name: ObjectName, id: string): Promise<void> => {
  let cause: unknown;
  try {
    await callObject(ctx, name, { kind: 'commit', id });
  } catch (error) {
    cause = error;
  }
  const { restoredId } = await callObject(ctx, name, { kind: 'restored' });
  // No AppError, after which the caller would take it that nothing has changed.
  if (restoredId !== id) throw cause ?? new Error(`The ${name} has not taken the backup.`);
};

/**
 * Stages a line in the account's objects, or in those of `names`. The last line lets them take what was staged. `id` is that of
 * the first line.
 */
export const restoreLine = async (
  ctx: Ctx,
  id: string,
  line: Line,
  replaces: boolean,
  names: readonly ObjectName[] = OBJECTS,
): Promise<void> => {
  if (line.type === 'backup') {
    for (const name of names)
      await callObject(ctx, name, { kind: 'begin', id, steps: line.steps[name], replaces });
  } else if (line.type === 'end') {
    for (const name of names) await commit(ctx, name, id);
  } else if (names.includes(line.object)) {
    const { object: name, ...part } = line;
    await callObject(ctx, name, { kind: 'part', part });
  }
};

/**
 * Replaces what an account's objects own by a backup. Nothing changes before the end of the backup has arrived. A repeat has
 * the same result. Returns the number of lines.
 */
export const restoreBackup = async (
  ctx: Ctx,
  body: ReadableStream<Uint8Array> | null,
  replaces: boolean,
): Promise<{ lines: number }> => {
  if (!body) throw invalid('The backup is empty.');
  let id: string | null = null;
  let lines = 0;
  for await (const next of readLines(body)) {
    if (next.type === 'backup') {
      if (next.account_id !== ctx.accountId) throw invalid('The backup is of another account.');
      ({ id } = next);
    }
    if (id === null) throw invalid('The backup has no first line.');
    if (next.type === 'end' && next.lines !== lines) throw invalid('Lines of the backup are missing.');
    await restoreLine(ctx, id, next, replaces);
    if (next.type === 'end') return { lines };
    if (next.type !== 'backup') lines++;
  }
  throw invalid('The backup was cut off.');
};
