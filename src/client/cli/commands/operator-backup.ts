import { openAsBlob } from 'node:fs';
import { command } from '../command.ts';
import { CliError } from '../failure.ts';
import { openOperator } from '../operator.ts';
import { type Append, cutOff, writeWhole } from '../whole-file.ts';

/** Appends a backup's bytes. Throws if not all of them arrive. */
const copy = async ({ body }: Response, append: Append, onBytes: (bytes: number) => void) => {
  let end = '';
  let bytes = 0;
  try {
    for await (const chunk of body ?? []) {
      await append(chunk);
      bytes += chunk.byteLength;
      end = (end + new TextDecoder().decode(chunk)).slice(-200);
      onBytes(bytes);
    }
  } catch (cause) {
    throw cause instanceof CliError ? cause : cutOff('backup', cause);
  }
  if (!/\n\{"type":"end"[^\n]*\}\n$/.test(end)) throw cutOff('backup');
};

export const backup = command({
  name: 'operator backup',
  args: ['ACCOUNT_ID', 'FILE'],
  summary: 'Write what an account’s Durable Objects own to a file',
  details: ['Seats, usage counts, webhook endpoints, events, and deliveries. Everything else is in D1.'],
  options: {},
  run: async (context, [id = '', file = '']) => {
    const response = await (await openOperator(context)).download(`/backup/${id}`);
    const show = (bytes: number) => context.out.progress(`${Math.ceil(bytes / 1_000)} kB…`);
    await writeWhole(file, (append) => copy(response, append, show));
    context.out.fields({ account: id, file }, { account: id, file });
    return 0;
  },
});

export const restore = command({
  name: 'operator restore',
  args: ['ACCOUNT_ID', 'FILE'],
  summary: 'Bring back what an account’s Durable Objects owned',
  options: { replace: { help: 'Replace what the account has now' } },
  run: async (context, [id = '', file = ''], { replace }) => {
    const operator = await openOperator(context);
    let blob: Blob;
    try {
      blob = await openAsBlob(file);
    } catch (cause) {
      throw new CliError(`${file} can’t be read.`, { cause });
    }
    const path = `/backup/${id}${replace ? '?replace=true' : ''}`;
    const restored = await operator.upload<{ lines: number }>(path, blob);
    context.out.fields(restored, { account: id, lines: restored.lines });
    return 0;
  },
});
