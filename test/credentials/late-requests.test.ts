import { expect, test } from 'vitest';
import { rotateApiKey } from '../../src/api-keys/rotate.ts';
import type { Ctx } from '../../src/db/ctx.ts';
import { once } from '../../src/gate/worker/commit.ts';
import { patchStore, revealStore } from '../../src/stores/stores.ts';
import { confirmTwoFactor, startTwoFactor } from '../../src/two-factor/setup.ts';
import { patchEndpoint, rotateSecret } from '../../src/webhooks/endpoints.ts';
import { notify, openShop, paid } from '../stores/shop.ts';
import { codeAt } from '../support/authenticator.ts';
import { outcomeOf, signUp } from '../support/client.ts';
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

test('the old key of a rotation that is undone is not refused for longer than that', async () => {
  const ada = await signUp();
  const { license_key } = await ada.createLicense();
  const ctx = lateCtx(ada.accountId);
  const outcomes: string[] = [];
  /** Before each change of the rotation, an application calls with the old key. */
  const batch: typeof ctx.db.batch = async (statements) => {
    outcomes.push(outcomeOf(await ada.verify(license_key)));
    return ctx.db.batch(statements);
  };
  const watched = { ...ctx, db: Object.create(ctx.db, { batch: { value: batch } }) };
  const late = rotateApiKey(watched, ada.apiKeyId, { overlap_hours: 0 });
  await expect(late).rejects.toMatchObject({ code: 'invalid_session' });
  expect(outcomes).toEqual(['200 ok', '403 api_key_invalid']);
  expect(outcomeOf(await ada.verify(license_key))).toBe('200 ok');
});

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

test('a late change of where a webhook sends disables the webhook, and its late rotation reveals no secret', async () => {
  const ada = await signUp();
  const { id } = (await ada.asSession('POST', '/api/webhooks', { url: 'https://shop.example.com/hook' }))
    .body;
  const ctx = lateCtx(ada.accountId);
  const ended = { code: 'invalid_session' };
  await expect(rotateSecret(ctx, id)).rejects.toMatchObject(ended);
  const moved = patchEndpoint(ctx, id, { url: 'https://attacker.example.net/late' }, 'latchkey.test');
  await expect(moved).rejects.toMatchObject(ended);
  const status = async () => (await ada.asSession('GET', '/api/webhooks')).body.data[0].status;
  expect(await status()).toBe('disabled');
  await expect(patchEndpoint(ctx, id, { status: 'enabled' }, 'latchkey.test')).rejects.toMatchObject(ended);
  expect(await status()).toBe('disabled');
});

test('a late change of a webhook’s description is refused, and the webhook goes on', async () => {
  const ada = await signUp();
  const { id } = (await ada.asSession('POST', '/api/webhooks', { url: 'https://shop.example.com/hook' }))
    .body;
  const late = patchEndpoint(lateCtx(ada.accountId), id, { description: 'The shop' }, 'latchkey.test');
  await expect(late).rejects.toMatchObject({ code: 'invalid_session' });
  const [webhook] = (await ada.asSession('GET', '/api/webhooks')).body.data;
  expect(webhook).toMatchObject({ id, status: 'enabled' });
});

test('a late change of a store’s secret leaves the secret as it was, and reveals none', async () => {
  const shop = await openShop();
  const secret = `whsec_${btoa('the secret of somebody else')}`;
  const late = patchStore(lateCtx(shop.ada.accountId), shop.storeId, { secret });
  await expect(late).rejects.toMatchObject({ code: 'invalid_session' });
  const idempotency = { key: 'late', requestHash: 'late', atMs: Date.now(), onRepeat: () => {} };
  const ctx = { ...lateCtx(shop.ada.accountId), idempotency };
  const patch = () => patchStore(ctx, shop.storeId, { secret });
  const kept = once(ctx, patch, (id) => revealStore(ctx, id));
  await expect(kept).rejects.toMatchObject({ code: 'invalid_session' });
  expect(outcomeOf(await notify(shop.storeId, paid('1'), secret))).toBe('401 invalid_signature');
  expect(outcomeOf(await notify(shop.storeId, paid('2')))).toBe('200 ok');
});
