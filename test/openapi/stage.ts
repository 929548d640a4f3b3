import type { ErrorCode } from '../../src/shared/app-error.ts';
import { type Answer, call, freshAddress, signUp } from '../support/client.ts';

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
  const things: Record<string, string> = {
    email: ada.email,
    password: ada.password,
    key: await spareKey(),
    'doomed key': await spareKey(),
    license: await license(),
    'other license': await license(),
    revoked,
    suspended,
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
  const answer: Answer = await call(method, sent, {
    ...(text !== undefined && { body: onStage(stage, text) }),
    headers: { 'cf-connecting-ip': freshAddress(), ...stage.callers[as], ...headers },
  });
  return { path: sent, answer };
};
