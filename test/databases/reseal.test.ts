import { createExecutionContext } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, onTestFinished, test } from 'vitest';
import worker from '../../src/index.ts';
import { newId } from '../../src/shared/text/ids.ts';
import { freshAddress, type Json, ORIGIN } from '../support/client.ts';
import { firstD1 } from '../support/databases.ts';
import { OPERATOR_TOKEN } from '../support/operator.ts';
import { readOutbox } from '../support/outbox.ts';
import { sellerWithWebhook } from '../support/worlds.ts';

const NEW = `k2:${btoa('a-second-sealing-key-of-32-bytes')}`;
const rotated: Env = { ...env, OPERATOR_TOKEN, SEALING_KEYS: `${NEW},${env.SEALING_KEYS}` };

const reseal = async (): Promise<number> => {
  const headers = { authorization: `Bearer ${OPERATOR_TOKEN}`, 'cf-connecting-ip': freshAddress() };
  const request = new Request(`${ORIGIN}/operator/reseal`, { method: 'POST', headers });
  const response = await worker.fetch(request, rotated, createExecutionContext());
  expect(response.status).toBe(200);
  return ((await response.json()) as Json)['left'];
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
  for (let [left, before] = [await reseal(), Infinity]; left > 0 && left < before;)
    [left, before] = [await reseal(), left];
  const stored = await readOutbox<{ value: string }>(ada.accountId, 'SELECT value FROM endpoints');
  expect(JSON.stringify(stored)).toMatch(/k2\./);
  expect(JSON.stringify(stored)).not.toMatch(/k1\./);
});
