import { env } from 'cloudflare:workers';
import { sandboxNotification } from '../../src/billing/sandbox.ts';
import type { ErrorCode } from '../../src/shared/app-error.ts';
import { type Answer, call, freshAddress, signUp } from '../support/client.ts';
import { newReceiver } from '../support/receiver.ts';

// Who makes the calls that drive every operation, and what they find.

export type CallerName =
  | 'nobody'
  | 'session'
  | 'key'
  | 'verify-only key'
  | 'forged key'
  | 'forged session'
  | 'foreign page';

export interface Call {
  method: string;
  /** `{license}` and the like stand for what the stage holds; in the body too. */
  path: string;
  when: string;
  as: CallerName;
  body?: unknown;
  headers?: Record<string, string>;
  status: number;
  code?: ErrorCode;
}

/** An account with something of each kind. */
export const setStage = async () => {
  const ada = await signUp();
  const limited = await ada.asSession('POST', '/api/create-api-key', { scope: 'verify' });
  const spareKey = async () => (await ada.asSession('POST', '/api/create-api-key')).body.id as string;
  const license = async (fields = {}) => (await ada.createLicense(fields)).id as string;
  const revoked = await license();
  await ada.asSession('POST', `/api/v1/licenses/${revoked}/revoke`);
  const suspended = await license();
  await ada.asSession('POST', `/api/v1/licenses/${suspended}/suspend`);
  await ada.asSession('POST', '/api/v1/licenses/create', {}, { 'idempotency-key': 'taken' });
  await license({ license_key: 'TAKEN-KEY' });
  const { url } = await newReceiver();
  const webhook = async () => (await ada.asSession('POST', '/api/webhooks', { url })).body.id as string;
  const [hook, disabledHook] = [await webhook(), await webhook()];
  const delivery = await ada.asSession('POST', `/api/webhooks/${hook}/test`);
  const disabledDelivery = await ada.asSession('POST', `/api/webhooks/${disabledHook}/test`);
  await ada.asSession('PATCH', `/api/webhooks/${disabledHook}`, { status: 'disabled' });
  const payment = await ada.asSession('POST', '/api/init-payment', { plan: 'pro' });
  const notification = sandboxNotification(env, payment.body.payment_id, 'paid');
  const things: Record<string, string> = {
    notification: notification.body,
    signature: notification.headers.get('sandbox-signature') ?? '',
    email: ada.email,
    password: ada.password,
    key: await spareKey(),
    'doomed key': await spareKey(),
    license: await license(),
    'other license': await license(),
    revoked,
    suspended,
    url,
    webhook: hook,
    'doomed webhook': await webhook(),
    'disabled webhook': disabledHook,
    delivery: delivery.body.id,
    'disabled delivery': disabledDelivery.body.id,
  };
  const callers: Record<CallerName, Record<string, string>> = {
    nobody: {},
    session: { authorization: `Bearer ${ada.token}` },
    key: { 'x-api-key': ada.apiKey },
    'verify-only key': { 'x-api-key': limited.body.api_key },
    'forged key': { 'x-api-key': `${ada.apiKey.slice(0, -1)}${ada.apiKey.endsWith('x') ? 'y' : 'x'}` },
    'forged session': { authorization: 'Bearer lks_nobodys' },
    'foreign page': { cookie: `__Host-session=${ada.token}`, origin: 'https://elsewhere.example' },
  };
  return { ada, things, callers };
};

export type Stage = Awaited<ReturnType<typeof setStage>>;

const onStage = ({ things }: Stage, text: string) =>
  text.replace(/\{([a-z ]+)\}/g, (written, name: string) => things[name] ?? written);

export const place = async (stage: Stage, { method, path, as, body, headers }: Call) => {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const sent = onStage(stage, path);
  const sentBody = text === undefined ? undefined : onStage(stage, text);
  const sentHeaders = Object.fromEntries(
    Object.entries(headers ?? {}).map(([name, value]) => [name, onStage(stage, value)]),
  );
  const answer: Answer = await call(method, sent, {
    body: sentBody,
    headers: { 'cf-connecting-ip': freshAddress(), ...stage.callers[as], ...sentHeaders },
  });
  return { path: sent, body: sentBody, answer };
};
