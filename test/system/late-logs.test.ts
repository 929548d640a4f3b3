import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import { gateOf } from '../../src/shared/objects/address.ts';
import { signUp } from '../support/client.ts';

const LINES = 400;

// If `sendLateLogs` did nothing, this file wouldn't end.
test('an object that still logs lines after the last test doesn’t keep the file from ending', async () => {
  const { accountId } = await signUp();
  const begun = await runInDurableObject(gateOf(env, accountId), (_gate, state) => {
    for (let i = 0; i < LINES; i++)
      state.waitUntil(scheduler.wait(2 * i).then(() => console.error('late', i)));
    return true;
  });
  expect(begun).toBe(true);
});
