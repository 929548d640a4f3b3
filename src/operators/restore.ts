import * as z from 'zod';
import type { Ctx } from '../db/ctx.ts';
import { AppError } from '../shared/app-error.ts';
import { FORMAT, type ObjectName, callObject, OBJECTS } from './backup.ts';

/** The longest line has a page of rows, see `openDisk`. */
const MAX_LINE_CHARACTERS = 8_000_000;

const cell = z.union([z.string(), z.number(), z.null()]);
const object = z.enum(OBJECTS);
const line = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('backup'),
    format: z.literal(FORMAT),
    id: z.string(),
    account_id: z.string(),
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

async function* readLines(body: ReadableStream<Uint8Array>): AsyncGenerator<z.infer<typeof line>> {
  let rest = '';
  const decoder = new TextDecoder();
  const parse = (text: string) => {
    try {
      return line.parse(JSON.parse(text));
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
      for (const name of OBJECTS)
        await callObject(ctx, name, { kind: 'begin', id, steps: next.steps[name], replaces });
      continue;
    }
    if (id === null) throw invalid('The backup has no first line.');
    if (next.type !== 'end') {
      const { object: name, ...part } = next;
      await callObject(ctx, name, { kind: 'part', part });
      lines++;
      continue;
    }
    if (next.lines !== lines) throw invalid('Lines of the backup are missing.');
    for (const name of OBJECTS) await commit(ctx, name, id);
    return { lines };
  }
  throw invalid('The backup was cut off.');
};
