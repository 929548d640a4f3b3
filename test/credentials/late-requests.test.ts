import { expect, test } from 'vitest';
import { rotateApiKey } from '../../src/api-keys/rotate.ts';
import type { Ctx } from '../../src/db/ctx.ts';
import { confirmTwoFactor, startTwoFactor } from '../../src/two-factor/setup.ts';
import { codeAt } from '../support/authenticator.ts';
import { signUp } from '../support/client.ts';
import { ctxOf, publicCtx } from '../support/databases.ts';

/** The account as a request has it whose session has ended since it was let in. */
const lateCtx = (accountId: string): Ctx => ({
  ...ctxOf(accountId),
  actor: { kind: 'session', id: 'ses_ended' },
});

test.for([0, 24])(
  'a late rotation with an overlap of %i hours leaves the old key as it was',
  async (hours) => {
    const ada = await signUp();
    const { license_key } = await ada.createLicense();
    const before = (await ada.asSession('GET', '/api/api-keys')).body.data;
    const late = rotateApiKey(lateCtx(ada.accountId), ada.apiKeyId, { overlap_hours: hours });
    await expect(late).rejects.toMatchObject({ code: 'invalid_session' });
    expect((await ada.asSession('GET', '/api/api-keys')).body.data).toEqual(before);
    expect((await ada.verify(license_key)).status).toBe(200);
  },
);

test('a session that has ended since it was let in turns no two-factor on', async () => {
  const ada = await signUp();
  const ctx = { ...publicCtx, ...lateCtx(ada.accountId) };
  const { secret } = await startTwoFactor(ctx);
  const client = {
    ip: '192.0.2.1',
    origin: 'https://latchkey.test',
    userAgent: null,
    previousToken: null,
    browserToken: null,
  };
  const confirmed = confirmTwoFactor(ctx, codeAt(secret, Date.now()), client, 'ended');
  await expect(confirmed).rejects.toMatchObject({ code: 'invalid_session' });
  expect((await ada.asSession('GET', '/api/account')).body.two_factor).toBe(false);
});
