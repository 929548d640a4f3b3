import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { CLI } from '../support/tool.ts';

test('webhooks listen waits for a place, and says so, while too many clients wait for events', async () => {
  const page = (data: object[]) => [200, { data, next_cursor: '1' }] as const;
  const event = {
    id: 'evt_1',
    event: 'license.created',
    payload: '{}',
    created_at: '2027-01-01T00:00:00.000Z',
  };
  const message = 'At most 2 clients wait for events at a time on this plan.';
  const error = {
    code: 'limit_reached',
    message,
    request_id: 'req_1',
    details: [{ path: 'listeners', message }],
  };
  const answers = [page([]), [403, { error }] as const, page([event])];
  const server = createServer((_request, response) => {
    const [status, body] = answers.shift() ?? page([]);
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const env = { ...process.env, LATCHKEY_URL: `http://127.0.0.1:${port}`, LATCHKEY_API_KEY: 'lk_live_x' };
  const child = spawn(process.execPath, [CLI, 'webhooks', 'listen'], { env });
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const status = new Promise((resolve) => child.on('close', resolve));
  let stdout = '';
  for await (const chunk of child.stdout) {
    stdout += String(chunk);
    if (stdout.includes('evt_1')) child.kill();
  }
  expect([await status, stdout]).toEqual([0, expect.stringContaining('license.created evt_1')]);
  expect(stderr).toContain(`${message} Trying again.`);
  server.close();
});
