import { describe, expect, test, vi } from 'vitest';
import { readExport } from '../../src/shared/rules/export-stream.ts';

const lines = (...values: object[]) =>
  new Blob([values.map((value) => `${JSON.stringify(value)}\n`).join('')]).stream();
const cursor = lines.bind(null, { type: 'cursor', cursor: 'one' });
const busy = new Error('Another transfer is running.');

/** Reads an export whose calls get these answers or errors, of which the last one lasts. */
const read = async (...answers: (() => ReadableStream<Uint8Array> | Error)[]) => {
  const wait = vi.fn<() => Promise<void>>(async () => {});
  let calls = 0;
  const open = async () => {
    const answer = answers[Math.min(calls++, answers.length - 1)]?.() ?? busy;
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const error: unknown = await Array.fromAsync(readExport(open, wait)).then(
    () => null,
    (thrown: unknown) => thrown,
  );
  return { error, calls, waits: wait.mock.calls.length };
};

describe('an export that doesn’t come to its end', () => {
  test('says why the service can’t be read, and waits for no attempt that it doesn’t make', async () => {
    expect(await read(() => busy)).toEqual({ error: busy, calls: 8, waits: 7 });
  });

  test('has a reason of its own for the part that is missing', async () => {
    const { error, calls, waits } = await read(() => busy, cursor, lines);
    expect([error, calls, waits]).toEqual([new Error('The export was cut off.'), 10, 1]);
  });

  test('was cut off if its answers break off', async () => {
    const { error } = await read(() => new TypeError('terminated'));
    expect(error).toEqual(new Error('The export was cut off.', { cause: new TypeError('terminated') }));
  });
});
