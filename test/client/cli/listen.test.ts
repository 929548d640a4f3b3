import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { EVENT_NAMES } from '../../../src/shared/rules/events.ts';
import { CLI } from '../support/tool.ts';

const page = (data: object[]) => [200, { data, next_cursor: '1' }] as const;
const event = {
  id: 'evt_1',
  event: 'license.created',
  payload: '{}',
  created_at: '2027-01-01T00:00:00.000Z',
};

/** Listens to a service that gives these answers, until the event has been printed. */
const listen = async (answers: (readonly [status: number, body: object])[], ...options: string[]) => {
  const queries: Record<string, string>[] = [];
  const server = createServer(({ url = '' }, response) => {
    queries.push(Object.fromEntries(new URL(url, 'http://service').searchParams));
    const [status, body] = answers.shift() ?? page([]);
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const env = { ...process.env, LATCHKEY_URL: `http://127.0.0.1:${port}`, LATCHKEY_API_KEY: 'lk_live_x' };
  const child = spawn(process.execPath, [CLI, 'webhooks', 'listen', ...options], { env });
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const status = new Promise((resolve) => child.on('close', resolve));
  let stdout = '';
  for await (const chunk of child.stdout) {
    stdout += String(chunk);
    if (stdout.includes('evt_1')) child.kill();
  }
  const ended = { status: await status, stdout, stderr, queries };
  server.close();
  return ended;
};

test('webhooks listen waits for a place, and says so, while too many clients wait for events', async () => {
  const message = 'At most 2 clients wait for events at a time on this plan.';
  const error = {
    code: 'limit_reached',
    message,
    request_id: 'req_1',
    details: [{ path: 'listeners', message }],
  };
  const { status, stdout, stderr } = await listen([page([]), [403, { error }], page([event])]);
  expect([status, stdout]).toEqual([0, expect.stringContaining('license.created evt_1')]);
  expect(stderr).toContain(`${message} Trying again.`);
});

test.for([
  { names: [], verified: undefined },
  { names: ['--events', 'license.created, license.verified'], verified: undefined },
  { names: ['--events', 'license.created'], verified: 'false' },
])('webhooks listen has license.verified made only if it prints it: $names', async ({ names, verified }) => {
  const { status, queries } = await listen([page([]), page([event])], ...names);
  expect(status).toBe(0);
  expect(queries.slice(0, 2).map((query) => [query['cursor'], query['verified']])).toEqual([
    [undefined, verified],
    ['1', verified],
  ]);
});

test.for(['license.create', 'webhook.test'])(
  'webhooks listen refuses %s, which never comes, and names the events that do',
  async (name) => {
    const { status, stdout, stderr, queries } = await listen([], '--events', `license.created, ${name}`);
    expect([status, stdout, queries]).toEqual([2, '', []]);
    expect(stderr).toContain(
      `There is no event ${name} to listen for. The events are ${EVENT_NAMES.join(', ')}.`,
    );
  },
);
