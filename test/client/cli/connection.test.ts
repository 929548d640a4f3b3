import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { connect } from '../../../src/client/cli/connection.ts';
import { networkReason } from '../../../src/client/cli/failure.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

/** A service that never answers. */
const openSilence = async () => {
  const server = createServer(() => {}).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

/** Node.js 20.0 has none. */
const withoutAny = () =>
  vi.spyOn(AbortSignal, 'any').mockImplementation(() => {
    throw new TypeError('AbortSignal.any is not a function');
  });

test('a request ends after its time, in Node.js 20.0, too', async () => {
  withoutAny();
  const client = connect(await openSilence(), 'lk_test', 50);
  const error: unknown = await client.GET('/api/account').catch((reason: unknown) => reason);
  expect(networkReason(error)).toBe('no answer in time');
});

test('a request ends with its own signal, in Node.js 20.0, too', async () => {
  withoutAny();
  const client = connect(await openSilence(), 'lk_test', 60_000);
  const stop = new AbortController();
  const answered = client.GET('/api/account', { signal: stop.signal });
  setTimeout(() => stop.abort(new Error('stopped')), 50);
  await expect(answered).rejects.toThrow('stopped');
  await expect(client.GET('/api/account', { signal: stop.signal })).rejects.toThrow('stopped');
});
