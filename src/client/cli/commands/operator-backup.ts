import { openAsBlob } from 'node:fs';
import { open } from 'node:fs/promises';
import { command } from '../command.ts';
import { CliError } from '../failure.ts';
import { openOperator } from '../operator.ts';

/** Copies a backup to a file. Returns whether it has arrived completely. */
const download = async (response: Response, file: string, onBytes: (bytes: number) => void) => {
  const handle = await open(file, 'w', 0o600);
  let end = '';
  let bytes = 0;
  try {
    for await (const chunk of response.body ?? []) {
      await handle.write(chunk);
      bytes += chunk.byteLength;
      end = (end + new TextDecoder().decode(chunk)).slice(-200);
      onBytes(bytes);
    }
  } finally {
    await handle.close();
  }
  return /\n\{"type":"end"[^\n]*\}\n$/.test(end);
};

export const backup = command({
  name: 'operator backup',
  args: ['ACCOUNT_ID', 'FILE'],
  summary: 'Write what an account’s Durable Objects own to a file',
  details: ['Seats, usage counts, webhook endpoints, events, and deliveries. Everything else is in D1.'],
  options: {},
  run: async (context, [id = '', file = '']) => {
    const response = await (await openOperator(context)).download(`/backup/${id}`);
    const isComplete = await download(response, file, (bytes) =>
      context.out.progress(`${Math.ceil(bytes / 1_000)} kB…`),
    );
    if (!isComplete) throw new CliError('The backup was cut off.', { advice: 'Run the command again.' });
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
