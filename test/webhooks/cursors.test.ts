import { runInDurableObject } from 'cloudflare:test';
import { afterEach, expect, test, vi } from 'vitest';
import { LISTEN_MS } from '../../src/webhooks/listening.ts';
import { signUp } from '../support/client.ts';
import { anEvent, listen } from '../support/listening.ts';
import { killOutbox, outbox, runOutboxAlarm } from '../support/outbox.ts';

// The cursors of clients that have listened before.

afterEach(() => {
  vi.useRealTimers();
});

test('a cursor stays expired although the outbox could not store that nobody listens any more', async () => {
  const ada = await signUp();
  let { next_cursor } = await listen(ada);
  const accept = () => outbox(ada.accountId).accept(JSON.stringify([anEvent()]));
  for (let i = 0; i < 3; i++) {
    await accept();
    ({ next_cursor } = await listen(ada, `?cursor=${next_cursor}`));
  }
  vi.setSystemTime(Date.now() + LISTEN_MS + 1);
  const put = await runInDurableObject(outbox(ada.accountId), (_outbox, { storage }) =>
    vi.spyOn(Object.getPrototypeOf(storage.kv) as SyncKvStorage, 'put').mockImplementation(() => {
      throw new Error('full');
    }),
  );
  await runOutboxAlarm(ada.accountId).catch(() => {});
  put.mockRestore();
  await killOutbox(ada.accountId);
  await listen(ada);
  for (let i = 0; i < 5; i++) await accept();
  expect((await ada.asKey('GET', `/api/events?cursor=${next_cursor}`)).status).toBe(400);
});

test('a cursor from before nobody listened stays expired when another client begins to listen', async () => {
  const ada = await signUp();
  const { next_cursor } = await listen(ada);
  vi.setSystemTime(Date.now() + LISTEN_MS + 1);
  await runOutboxAlarm(ada.accountId);
  await outbox(ada.accountId).accept(JSON.stringify([anEvent()]));
  await listen(ada, '?verified=false');
  for (const query of ['', '&verified=false'])
    expect((await ada.asKey('GET', `/api/events?cursor=${next_cursor}${query}`)).status).toBe(400);
  // Nor does one without license.verified serve a client that wants it, for whom none was kept.
  const { next_cursor: without } = await listen(ada, '?verified=false');
  expect((await ada.asKey('GET', `/api/events?cursor=${without}`)).status).toBe(400);
});
