import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { runCli } from '../support/tool.ts';

interface Listed {
  id: string;
  status: string;
  accounts?: number | null;
  missing_accounts?: string[];
}

/** Restores by a service with these backups, and returns what it was asked for and how that ended. */
const restoreWith = async (backups: Listed[], restoring: string | null, ...args: string[]) => {
  const calls: string[] = [];
  const server = createServer((request, response) => {
    calls.push(`${request.method} ${request.url}`);
    const data = backups.map((backup) => ({ accounts: 1, missing_accounts: [], ...backup }));
    const restored = { done: true, chunks: 1, restored_chunks: 1, rows: 1, skipped_rows: 0, accounts: 1 };
    const body = request.method === 'GET' ? { data, restoring, next_cursor: null } : restored;
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const { status, stderr } = await runCli(['operator', 'restore-service', ...args], {
    LATCHKEY_URL: `http://127.0.0.1:${port}`,
    LATCHKEY_OPERATOR_TOKEN: 'token',
  });
  return { calls, status, stderr };
};

const LIST = 'GET /operator/backups';
const restored = (id: string) => `POST /operator/backups/${id}/restore`;
const EMPTY = { id: 'bak_empty', status: 'done', accounts: 0 };

test.each([
  {
    which: 'the newest that is complete and has accounts',
    backups: [
      { id: 'bak_now', status: 'running' },
      EMPTY,
      { id: 'bak_new', status: 'done' },
      { id: 'bak_old', status: 'done' },
    ],
    restoring: null,
    id: 'bak_new',
  },
  {
    which: 'one whose accounts’ objects all couldn’t be read',
    backups: [{ ...EMPTY, id: 'bak_rows', missing_accounts: ['acct_1'] }],
    restoring: null,
    id: 'bak_rows',
  },
  {
    which: 'the one that is being restored, although another is newer',
    backups: [
      { id: 'bak_new', status: 'done' },
      { id: 'bak_old', status: 'done' },
    ],
    restoring: 'bak_old',
    id: 'bak_old',
  },
])('a restore takes $which', async ({ backups, restoring, id }) => {
  const { calls, status } = await restoreWith(backups, restoring);
  expect([calls, status]).toEqual([[LIST, restored(id)], 0]);
});

test('a restore takes no backup of a service without accounts, unless it is named', async () => {
  const { calls, status, stderr } = await restoreWith([EMPTY], null);
  expect([calls, status]).toEqual([[LIST], 2]);
  expect(stderr).toContain('The bucket has no complete backup that has accounts.');
  const named = await restoreWith([EMPTY], null, 'bak_empty');
  expect([named.calls, named.status]).toEqual([[restored('bak_empty')], 0]);
});

test('a restore takes no older backup in place of one that can’t be read, unless it is named', async () => {
  const backups = [
    { id: 'bak_gone', status: 'unreadable', accounts: null },
    { id: 'bak_old', status: 'done' },
  ];
  const { calls, status, stderr } = await restoreWith(backups, null);
  expect([calls, status]).toEqual([[LIST], 2]);
  expect(stderr).toContain('The newest backup can’t be read: bak_gone.');
  expect((await restoreWith(backups, null, 'bak_old')).status).toBe(0);
});

test.each([
  { form: 'text', flags: [] },
  { form: 'JSON', flags: ['--json'] },
])('an operator token with a line break is refused, and not printed as $form', async ({ flags }) => {
  const { status, stdout, stderr } = await runCli(['operator', 'backups', ...flags], {
    LATCHKEY_URL: 'http://127.0.0.1:9',
    LATCHKEY_OPERATOR_TOKEN: 'first-secret\nsecond-secret',
  });
  expect([status, stdout]).toEqual([2, '']);
  expect(stderr).toContain('LATCHKEY_OPERATOR_TOKEN has characters that no operator token has.');
  expect(stderr).not.toContain('-secret');
});
