import { createExecutionContext } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, onTestFinished, test, vi } from 'vitest';
import worker from '../../src/index.ts';
import { newId } from '../../src/shared/text/ids.ts';
import { freshAddress, type Json, ORIGIN } from '../support/client.ts';
import { firstD1 } from '../support/databases.ts';
import { OPERATOR_TOKEN } from '../support/operator.ts';
import { readOutbox } from '../support/outbox.ts';
import { sellerWithWebhook } from '../support/worlds.ts';

const NEW = `k2:${btoa('a-second-sealing-key-of-32-bytes')}`;
const rotated: Env = { ...env, OPERATOR_TOKEN, SEALING_KEYS: `${NEW},${env.SEALING_KEYS}` };

const reseal = async (service = rotated, restart = false): Promise<number> => {
  const headers = {
    authorization: `Bearer ${OPERATOR_TOKEN}`,
    'cf-connecting-ip': freshAddress(),
    'content-type': 'application/json',
  };
  const body = JSON.stringify({ restart });
  const request = new Request(`${ORIGIN}/operator/reseal`, { method: 'POST', headers, body });
  const response = await worker.fetch(request, service, createExecutionContext());
  expect(response.status).toBe(200);
  return ((await response.json()) as Json)['left'];
};

/** Calls until nothing more is sealed again. Returns what is left then: other files leave what can't be unsealed. */
const resealAll = async (service = rotated, restart = false): Promise<number> => {
  let [left, before] = [await reseal(service, restart), Infinity];
  while (left > 0 && left < before) [left, before] = [await reseal(service), left];
  return left;
};

/** The names of the keys with which the account's webhook secrets are sealed. */
const keysOf = async (accountId: string): Promise<string[]> => {
  const stored = await readOutbox<{ value: string }>(accountId, 'SELECT value FROM endpoints');
  return [...new Set(JSON.stringify(stored).match(/\bk\d(?=\.)/g))];
};

/** More than one call visits. */
const NEWER_ACCOUNTS = 201;

test('the webhook secrets of an account that is in a newer database than its id says are sealed again', async () => {
  const { ada } = await sellerWithWebhook();
  await scheduler.wait(2);
  const ids = Array.from({ length: NEWER_ACCOUNTS }, () => newId('acct')).toSorted();
  const json = JSON.stringify(ids);
  await firstD1
    .prepare("INSERT INTO accounts (id, email, created_at) SELECT value, 'x', 1 FROM json_each(?)")
    .bind(json)
    .run();
  onTestFinished(async () => {
    await firstD1
      .prepare('DELETE FROM accounts WHERE id IN (SELECT value FROM json_each(?))')
      .bind(json)
      .run();
  });
  await scheduler.wait(2);
  await resealAll();
  expect(await keysOf(ada.accountId)).toEqual(['k2']);
});

test('an outbox that fails keeps no other from being sealed again, stays left, and is visited again', async () => {
  const [ada, bob] = [(await sellerWithWebhook()).ada, (await sellerWithWebhook()).ada];
  await scheduler.wait(2);
  const log = vi.spyOn(console, 'error').mockReturnValue();
  onTestFinished(() => {
    log.mockRestore();
  });
  const outboxes = {
    getByName: (name: string) =>
      name === ada.accountId
        ? { listEndpoints: () => Promise.reject(new Error('The outbox has failed.')) }
        : env.OUTBOX.getByName(name),
  };
  const failing = { ...rotated, OUTBOX: outboxes as unknown as Env['OUTBOX'] };
  const left = await resealAll(failing, true);
  const lines = log.mock.calls.map(([line]) => JSON.parse(String(line)));
  expect(lines).toContainEqual(
    expect.objectContaining({ event: 'reseal_failed', account_id: ada.accountId }),
  );
  expect([await keysOf(ada.accountId), await keysOf(bob.accountId)]).toEqual([['k1'], ['k2']]);
  expect(await resealAll()).toBe(left - 1);
  expect(await keysOf(ada.accountId)).toEqual(['k2']);
});
