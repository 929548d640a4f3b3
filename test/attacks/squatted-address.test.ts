import { beforeEach, describe, expect, test } from 'vitest';
import { outcomeOf, PASSWORD, signUp } from '../support/client.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { mailsTo } from '../support/mails.ts';
import { asVisitor, withToken } from '../support/sign-in.ts';
import { enableTwoFactor } from '../support/two-factor.ts';
import { waitUntil } from '../support/wait-until.ts';
import { entriesFor, NEW_PASSWORD, resetByMail, tokenIn, trySignIn, VARIANTS } from './owner.ts';

beforeEach(() => useFakeClock());

/** Somebody who registers the address of another person, and prepares the account for them. */
const squat = async ({ hasTwoFactor }: { hasTwoFactor: boolean }) => {
  const eve = await signUp();
  expect(
    outcomeOf(await eve.asSession('POST', '/api/webhooks', { url: 'https://eve.example.net/hook' })),
  ).toBe('201 ok');
  return hasTwoFactor ? enableTwoFactor(eve) : eve;
};

describe.for(VARIANTS)('whoever registers another person’s address first, $name', (variant) => {
  test('loses everything once that person resets the password', async () => {
    const eve = await squat(variant);
    const register = { email: eve.email, password: NEW_PASSWORD };
    expect(outcomeOf(await asVisitor('/api/register', register))).toBe('409 email_taken');

    const reset = await resetByMail(eve.email, NEW_PASSWORD);
    expect(outcomeOf(reset)).toBe('200 ok');
    const owner = tokenIn(reset);
    expect(outcomeOf(await eve.asSession('GET', '/api/account'))).toBe('401 invalid_session');
    expect(outcomeOf(await eve.asKey('GET', '/api/v1/licenses'))).toBe('403 api_key_invalid');
    expect(outcomeOf(await trySignIn(eve.email, PASSWORD))).toBe('401 invalid_credentials');
    expect((await withToken(owner, 'GET', '/api/webhooks')).body.data).toEqual([]);
    expect((await withToken(owner)).body).toMatchObject({ email_verified: true, two_factor: false });
  });

  test('gets no proof from that person’s click on the link that verifies the address', async () => {
    const eve = await squat(variant);
    await eve.asSession('POST', '/api/resend-verification');
    const isLink = ({ subject }: { subject: string }) => subject === 'Verify your email address';
    const link = await waitUntil(() => mailsTo(eve.email).find(isLink));
    const verify = { token: /lkt_\w+/.exec(link?.text ?? '')?.[0] };
    expect(outcomeOf(await asVisitor('/api/verify-email', verify))).toBe('401 reauthentication_required');
    expect((await eve.asSession('GET', '/api/account')).body.email_verified).toBe(false);
  });

  test('is shown to that person by the email and the audit log', async () => {
    const eve = await squat(variant);
    const owner = tokenIn(await resetByMail(eve.email, NEW_PASSWORD));
    const about = 'The account with your email address is yours';
    await expect.poll(() => mailsTo(eve.email).map(({ subject }) => subject)).toContain(about);
    expect(await entriesFor(owner, 'api_key.delete')).toMatchObject([{ details: { keys: [eve.apiKeyId] } }]);
    expect(await entriesFor(owner, 'webhook.delete')).toHaveLength(1);
  });
});
