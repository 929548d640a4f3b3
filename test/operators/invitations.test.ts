import { env } from 'cloudflare:workers';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { readConfiguration, settingsOf } from '../../src/shared/config/settings.ts';
import { DAY_MS } from '../../src/shared/rules/dates.ts';
import { call, freshAddress, ORIGIN, outcomeOf } from '../support/client.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { asOperator, withOperatorToken } from '../support/operator.ts';
import { asVisitor } from '../support/sign-in.ts';

const NOW = Date.parse('2027-05-01T12:00:00.000Z');

const registerBy = (word: 'open' | 'invite' | 'closed') => {
  const setting = vi.spyOn(settingsOf(env), 'registration', 'get').mockReturnValue(word);
  onTestFinished(() => setting.mockRestore());
};

let people = 0;
const freshEmail = () => `guest-${people++}@example.com`;
const registerWith = (invitation?: string, email = freshEmail()) =>
  asVisitor('/api/register', { email, password: 'correct horse battery', ...(invitation && { invitation }) });

const invite = async (body: object = {}) => {
  const answer = await asOperator('POST', '/operator/invitations', body);
  expect(answer.status).toBe(201);
  const token = new URL(answer.body.url).hash.replace('#invitation=', '');
  return { ...answer.body, token } as { id: string; url: string; token: string; expires_at: string };
};

beforeEach(() => {
  useFakeClock(NOW);
  onTestFinished(withOperatorToken());
});

describe('a service that wants invitations', () => {
  beforeEach(() => registerBy('invite'));

  test('registers nobody without one, and says so in its health', async () => {
    const refused = await registerWith();
    expect([outcomeOf(refused), refused.body.error.message]).toEqual([
      '403 registration_closed',
      'Registration Is by Invitation Only',
    ]);
    expect((await call('GET', '/health')).body.registration).toBe('invite');
  });

  test('registers one person with each, who signs in like anybody', async () => {
    const { url, token, expires_at } = await invite();
    expect([url, expires_at]).toEqual([`${ORIGIN}/register#invitation=${token}`, '2027-05-08T12:00:00.000Z']);
    const email = freshEmail();
    expect((await registerWith(token, email)).status).toBe(201);
    expect(outcomeOf(await registerWith(token))).toBe('400 invalid_token');
    const login = await asVisitor('/api/login', { email, password: 'correct horse battery' });
    expect(login.status).toBe(200);
  });

  test('ten people with the same invitation at once get one account', async () => {
    const { token } = await invite();
    const answers = await Promise.all(Array.from({ length: 10 }, () => registerWith(token)));
    const outcomes = answers.map(outcomeOf).toSorted();
    expect(outcomes).toEqual(['201 ok', ...Array<string>(9).fill('400 invalid_token')]);
  });

  test('a registration that is refused for its address leaves the invitation good', async () => {
    const [first, second] = [await invite(), await invite()];
    const email = freshEmail();
    expect((await registerWith(first.token, email)).status).toBe(201);
    expect(outcomeOf(await registerWith(second.token, email))).toBe('409 email_taken');
    expect((await registerWith(second.token)).status).toBe(201);
  });

  test('an invitation of an address is good for no other', async () => {
    const email = freshEmail();
    const { token } = await invite({ email: email.toUpperCase() });
    expect(outcomeOf(await registerWith(token))).toBe('400 invalid_token');
    expect((await registerWith(token, email)).status).toBe(201);
  });

  test.for(['lki_', 'no', `lki_${'x'.repeat(54)}`])('%s is no invitation', async (forged) => {
    expect(outcomeOf(await registerWith(forged))).toBe('400 invalid_token');
  });

  test('an invitation ends after its days', async () => {
    const [short, long] = [await invite({ days: 1 }), await invite({ days: 30 })];
    vi.setSystemTime(NOW + DAY_MS);
    expect(outcomeOf(await registerWith(short.token))).toBe('400 invalid_token');
    expect((await registerWith(long.token)).status).toBe(201);
    expect(outcomeOf(await asOperator('POST', '/operator/invitations', { days: 31 }))).toBe(
      '400 invalid_request',
    );
  });

  test('the operator lists those that are open, never their tokens, and takes one back', async () => {
    const [kept, revoked] = [await invite({ email: 'grace@example.com' }), await invite()];
    const remove = () => asOperator('DELETE', `/operator/invitations/${revoked.id}`);
    expect((await remove()).body).toEqual({ id: revoked.id, deleted: true });
    expect(outcomeOf(await remove())).toBe('404 not_found');
    expect(outcomeOf(await registerWith(revoked.token))).toBe('400 invalid_token');
    const { data } = (await asOperator('GET', '/operator/invitations')).body;
    expect(data[0]).toEqual({
      id: kept.id,
      email: 'grace@example.com',
      created_at: '2027-05-01T12:00:00.000Z',
      expires_at: '2027-05-08T12:00:00.000Z',
    });
    expect(JSON.stringify(data)).not.toContain(kept.token);
    expect(data.map(({ id }: { id: string }) => id)).not.toContain(revoked.id);
  });
});

test('a closed service registers nobody, not even with an invitation', async () => {
  registerBy('closed');
  const { token } = await invite();
  expect(outcomeOf(await registerWith(token))).toBe('403 registration_closed');
  expect((await call('GET', '/health')).body.registration).toBe('closed');
});

test('an open service asks for no invitation, and keeps one that is sent', async () => {
  const { token } = await invite();
  expect((await registerWith(token)).status).toBe(201);
  registerBy('invite');
  expect((await registerWith(token)).status).toBe(201);
});

test('refused registrations of an address are limited like others', async () => {
  registerBy('invite');
  const ip = freshAddress();
  const body = { email: freshEmail(), password: 'correct horse battery' };
  let outcome = '';
  for (let i = 0; i < 61; i++)
    outcome = outcomeOf(await asVisitor('/api/register', body, { 'cf-connecting-ip': ip }));
  expect(outcome).toBe('429 rate_limit_exceeded');
});

test.for([
  [undefined, 'open', false],
  ['invite', 'invite', false],
  ['Closed', 'closed', true],
  ['everybody', 'closed', true],
] as const)('REGISTRATION %s is read as %s', ([text, word, isProblem]) => {
  const { settings, problems } = readConfiguration({ REGISTRATION: text });
  expect(settings.registration).toBe(word);
  expect(problems.some((problem) => problem.startsWith('REGISTRATION must be'))).toBe(isProblem);
});
