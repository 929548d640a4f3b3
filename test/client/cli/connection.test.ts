import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { connect } from '../../../src/client/cli/connection.ts';
import { networkReason } from '../../../src/client/cli/failure.ts';
import { runCli } from '../support/tool.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

const serve = async (listener: RequestListener) => {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

/** A service that never answers. */
const openSilence = () => serve(() => {});

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

const PAGE = '<!doctype html>\n<html><body>\nSign in to the network\n</body></html>\n';
const file = join(mkdtempSync(join(tmpdir(), 'latchkey-sign-in-')), 'licenses.ndjson');

test.each([
  ['import', 'text/html; charset=utf-8', file],
  ['import', undefined, file],
  ['import', 'application/x-ndjson', file],
  ['export', 'text/html; charset=utf-8', '--csv'],
])('the sign-in page of a network ends an %s at once, with the type %s', async (name, type, arg) => {
  writeFileSync(file, '{"license_key":"KEY-1"}\n');
  let pages = 0;
  const url = await serve((request, response) => {
    const isAccount = request.url === '/api/account';
    const contentType = isAccount ? 'application/json' : type;
    if (contentType !== undefined) response.setHeader('content-type', contentType);
    response.end(isAccount ? '{"id":"acct_1"}' : PAGE);
    if (!isAccount) pages++;
  });
  const variables = { LATCHKEY_URL: url, LATCHKEY_API_KEY: 'lk_live_x' };
  const { status, stderr } = await runCli(['licenses', name, arg], variables);
  expect([status, pages]).toEqual([2, 1]);
  expect(stderr).toBe(
    'Error: The answer doesn’t come from Latchkey (status 200).\n' +
      'Check the URL, and whether a proxy or the network’s sign-in page answers in its place.\n',
  );
});

test('doctor says what is wrong with a degraded service, and goes on with the other checks', async () => {
  const health = {
    status: 'degraded',
    version: '1.2.3',
    time: new Date().toISOString(),
    checks: { database: 'unavailable: DB_2', configuration: 'ok', mail: 'not_configured' },
  };
  const refusal = {
    error: { code: 'insufficient_scope', message: 'Insufficient Scope', request_id: 'req_1' },
  };
  const url = await serve((request, response) => {
    const isHealth = request.url === '/health';
    response.writeHead(isHealth ? 503 : 403, { 'content-type': 'application/json' });
    response.end(JSON.stringify(isHealth ? health : refusal));
  });
  const variables = { LATCHKEY_URL: url, LATCHKEY_API_KEY: 'lk_live_x' };
  const { status, stdout } = await runCli(['doctor', '--json'], variables);
  const { checks } = JSON.parse(stdout) as { checks: { check: string; result: string; message: string }[] };
  const results = Object.fromEntries(checks.map(({ check, result }) => [check, result]));
  expect(results).toMatchObject({ network: 'ok', service: 'failed', clock: 'ok', 'API key': 'ok' });
  const service = checks.find(({ check }) => check === 'service');
  expect(service?.message).toBe('The service is degraded: database: unavailable: DB_2');
  expect(status).toBe(1);
});
