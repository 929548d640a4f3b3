import { setTimeout as delay } from 'node:timers/promises';
import { type PartAnswer, toPartAnswer } from '../../../shared/rules/import/run.ts';
import type { ApiClient } from '../../api/client.ts';
import { answer, notLatchkey } from '../connection.ts';
import { CliError } from '../failure.ts';

const ATTEMPTS = 5;

export interface ImportQuery {
  on_conflict?: 'fail' | 'skip' | 'update';
  dry_run?: 'true';
  allow_unknown_product?: 'true';
  events?: 'true';
  cursor?: string;
}

const parse = (line: string): unknown => {
  try {
    return JSON.parse(line);
  } catch (cause) {
    throw notLatchkey(200, cause);
  }
};

/** Returns the values of a stream of JSON lines. Throws if a line was cut off. */
async function* readValues(stream: ReadableStream): AsyncGenerator {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of stream as unknown as AsyncIterable<Uint8Array>) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) yield parse(line);
  }
  if (rest !== '') throw new CliError('The answer was cut off.', { code: 'cut_off' });
}

const sendOnce = async (api: ApiClient, body: string, query: ImportQuery): Promise<PartAnswer> => {
  const stream = await answer(
    api.POST('/api/v1/licenses/import', {
      params: { query },
      headers: { 'content-type': 'application/x-ndjson' },
      body,
      bodySerializer: (text: string) => text,
      parseAs: 'stream',
    }),
  );
  const values = [];
  for await (const value of readValues(stream)) values.push(value);
  const read = toPartAnswer(values);
  if (read) return read;
  throw new CliError('The answer was cut off.', { code: 'cut_off' });
};

/** A refused part has changed nothing, and any other part ends in the same state when it is sent again. */
export const openSend =
  (api: ApiClient, query: ImportQuery) =>
  async (body: string, cursor: string | null): Promise<PartAnswer> => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await sendOnce(api, body, cursor === null ? query : { ...query, cursor });
      } catch (error) {
        const { status = null } = error instanceof CliError ? error : {};
        const isFinal = status !== null && status < 500 && status !== 429;
        if (isFinal || attempt === ATTEMPTS) throw error;
        await delay(500 * 2 ** attempt);
      }
    }
  };
