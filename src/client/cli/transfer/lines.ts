import { CliError } from '../failure.ts';

/** Returns the values of a stream of JSON lines. Throws if a line was cut off. */
export async function* readValues(stream: ReadableStream): AsyncGenerator {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of stream as unknown as AsyncIterable<Uint8Array>) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) yield JSON.parse(line);
  }
  if (rest !== '') throw new CliError('The answer was cut off.', { code: 'cut_off' });
}
