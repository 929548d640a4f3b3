import { env } from 'cloudflare:workers';
import { sandboxNotification } from '../../src/billing/sandbox.ts';
import type { ErrorCode } from '../../src/shared/app-error.ts';
import { newUserToken } from '../../src/users/user-tokens.ts';
import { userTokens } from '../../src/db/schema.ts';
import { codeAt } from '../support/authenticator.ts';
import { type Answer, call, freshAddress, type Json, signUp } from '../support/client.ts';
import { publicCtx } from '../support/databases.ts';
import { registerTwoFactor } from '../support/two-factor.ts';
import { newReceiver } from '../support/receiver.ts';

// The callers and the data for the calls to every operation.

export type CallerName =
  | 'anonymous'
  | 'session'
  | 'key'
  | 'verify-only key'
  | 'forged key'
  | 'forged session'
  | 'foreign page';

export interface Call {
  method: string;
  /** Placeholders such as `{license}` in the path, the body and the headers stand for values of the fixtures. */
  path: string;
  when: string;
  as: CallerName;
  body?: unknown;
  headers?: Record<string, string>;
  status: number;
  code?: ErrorCode;
}

/** Creates an account with resources in every state that the calls need. */
export const createFixtures = async () => {
  const ada = await signUp();
  const verifyOnly = await ada.asSession('POST', '/api/create-api-key', { scope: 'verify' });
  const spareKey = async () => (await ada.asSession('POST', '/api/create-api-key')).body.id as string;
  const license = async (fields = {}) => (await ada.createLicense(fields)).id as string;
  const revoked = await license();
  await ada.asSession('POST', `/api/v1/licenses/${revoked}/revoke`);
  const suspended = await license();
  await ada.asSession('POST', `/api/v1/licenses/${suspended}/suspend`);
  await ada.asSession('POST', '/api/v1/licenses/create', {}, { 'idempotency-key': 'taken' });
  await license({ license_key: 'TAKEN-KEY' });
  await ada.asSession('PUT', '/api/v1/products/used', { terms: { max_activations: 1 } });
  await ada.asSession('PUT', '/api/v1/products/unused', {});
  const seated = await ada.createLicense({ product: 'used', license_key: 'SEATED-KEY' });
  const activate = { license_key: 'SEATED-KEY', fingerprint: 'machine-0001' };
  const activation = await ada.asKey('POST', '/api/v1/licenses/activate', activate);
  const { url } = await newReceiver();
  const webhook = async () => (await ada.asSession('POST', '/api/webhooks', { url })).body.id as string;
  const [enabledWebhook, disabledWebhook] = [await webhook(), await webhook()];
  const delivery = await ada.asSession('POST', `/api/webhooks/${enabledWebhook}/test`);
  const disabledDelivery = await ada.asSession('POST', `/api/webhooks/${disabledWebhook}/test`);
  await ada.asSession('PATCH', `/api/webhooks/${disabledWebhook}`, { status: 'disabled' });
  const payment = await ada.asSession('POST', '/api/init-payment', { plan: 'pro' });
  const notification = sandboxNotification(
    env,
    { id: payment.body.payment_id, accountId: ada.accountId },
    'paid',
  );
  const { secret } = (await ada.asSession('POST', '/api/two-factor')).body;
  const bob = await registerTwoFactor();
  const eve = await signUp();
  const tokenFor = async (purpose: 'reset_password' | 'verify_email') => {
    const { token, row } = newUserToken(publicCtx, eve.accountId, purpose, eve.email);
    await publicCtx.firstDb.insert(userTokens).values(row);
    return token;
  };
  await call('POST', '/api/login', { body: { email: ada.email, password: ada.password } });
  const sessions: Json[] = (await ada.asSession('GET', '/api/sessions')).body.data;
  const values: Record<string, string> = {
    get code() {
      return codeAt(secret, Date.now());
    },
    get 'next code'() {
      return codeAt(secret, Date.now() + 30_000);
    },
    'reset token': await tokenFor('reset_password'),
    'verify token': await tokenFor('verify_email'),
    'other session': sessions.find(({ current }) => !current).id,
    'two-factor email': bob.email,
    challenge: await bob.challenge(),
    'recovery code': bob.recoveryCodes[0] ?? '',
    notification: notification.body,
    signature: notification.headers.get('sandbox-signature') ?? '',
    email: ada.email,
    password: ada.password,
    key: await spareKey(),
    'key to delete': await spareKey(),
    license: await license(),
    'other license': await license(),
    revoked,
    suspended,
    seated: seated.id,
    activation: activation.body.activation.id,
    url,
    webhook: enabledWebhook,
    'webhook to delete': await webhook(),
    'disabled webhook': disabledWebhook,
    delivery: delivery.body.id,
    'disabled delivery': disabledDelivery.body.id,
  };
  const callers: Record<CallerName, Record<string, string>> = {
    anonymous: {},
    session: { authorization: `Bearer ${ada.token}` },
    key: { 'x-api-key': ada.apiKey },
    'verify-only key': { 'x-api-key': verifyOnly.body.api_key },
    'forged key': { 'x-api-key': `${ada.apiKey.slice(0, -1)}${ada.apiKey.endsWith('x') ? 'y' : 'x'}` },
    'forged session': { authorization: 'Bearer lks_unknown' },
    'foreign page': { cookie: `__Host-session=${ada.token}`, origin: 'https://elsewhere.example' },
  };
  return { ada, values, callers };
};

export type Fixtures = Awaited<ReturnType<typeof createFixtures>>;

const fillIn = ({ values }: Fixtures, text: string) =>
  text.replace(/\{([a-z -]+)\}/g, (placeholder, name: string) => values[name] ?? placeholder);

/** Sends a call and returns its path and body as sent, and the answer. */
const send = async (fixtures: Fixtures, { method, path, as, body, headers }: Call) => {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const sentPath = fillIn(fixtures, path);
  const sentBody = text === undefined ? undefined : fillIn(fixtures, text);
  const sentHeaders = Object.fromEntries(
    Object.entries(headers ?? {}).map(([name, value]) => [name, fillIn(fixtures, value)]),
  );
  const answer: Answer = await call(method, sentPath, {
    body: sentBody,
    headers: { 'cf-connecting-ip': freshAddress(), ...fixtures.callers[as], ...sentHeaders },
  });
  return { path: sentPath, body: sentBody, answer };
};

/** Sends a call again for as long as its API key is over the rate limit. */
export const sendWithinRateLimit = async (fixtures: Fixtures, sent: Call) => {
  for (;;) {
    const result = await send(fixtures, sent);
    if (result.answer.body?.error?.code !== 'rate_limit_exceeded') return result;
    await scheduler.wait(Number(result.answer.headers.get('retry-after')) * 1_000);
  }
};
