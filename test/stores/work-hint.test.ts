import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { hintArrival } from '../../src/stores/work-hint.ts';

const openQueue = () => {
  const sent: string[] = [];
  const WEBHOOKS = { send: async ({ account_id }: { account_id: string }) => void sent.push(account_id) };
  return { sent, env: { WEBHOOKS } as unknown as Env };
};

test('of many notifications at once, the first is hinted at now, and the others together a second later', async () => {
  const { sent, env } = openQueue();
  const burst = Array.from({ length: 50 }, () => hintArrival(env, 'acct_busy'));
  await hintArrival(env, 'acct_other');
  expect(sent).toEqual(['acct_busy', 'acct_other']);
  await Promise.all(burst);
  expect(sent).toEqual(['acct_busy', 'acct_other', 'acct_busy']);
  await delay(1_100);
  await hintArrival(env, 'acct_busy');
  expect(sent).toHaveLength(4);
});
