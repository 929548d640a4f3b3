import { exports } from 'cloudflare:workers';

export const ORIGIN = 'https://latchkey.test';

// What an answer holds is what the test is about, so it is looked at untyped.
// oxlint-disable-next-line typescript/no-explicit-any
export type Json = any;

export interface Answer {
  status: number;
  headers: Headers;
  body: Json;
}

let nextAddress = 0;

/** Another address for each caller, so that one test's registrations don't throttle another's. */
export const freshAddress = () => `10.0.${nextAddress >> 8}.${nextAddress++ & 255}`;

export interface CallOptions {
  body?: unknown;
  headers?: Record<string, string>;
}

/** One request through the Worker's own fetch. A string is sent as it is, anything else as JSON. */
export const call = async (
  method: string,
  path: string,
  { body, headers = {} }: CallOptions = {},
): Promise<Answer> => {
  const init: RequestInit = { method, headers: { ...headers } };
  if (body !== undefined) {
    init.body = typeof body === 'string' ? body : JSON.stringify(body);
    init.headers = { 'content-type': 'application/json', ...headers };
  }
  const response = await exports.default.fetch(new Request(ORIGIN + path, init));
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? null : JSON.parse(text) };
};

const PASSWORD = 'correct horse battery';

let people = 0;

/** A new account with its session. */
export const register = async () => {
  const email = `person-${++people}-${crypto.randomUUID().slice(0, 8)}@example.com`;
  const { status, body } = await call('POST', '/api/register', {
    body: { email, password: PASSWORD },
    headers: { 'cf-connecting-ip': freshAddress() },
  });
  if (status !== 201) throw new Error(`register answered ${JSON.stringify(body)}`);
  const token: string = body.session.token;
  return {
    email,
    password: PASSWORD,
    accountId: body.account.id as string,
    token,
    asSession: (method: string, path: string, sent?: unknown, headers: Record<string, string> = {}) =>
      call(method, path, { body: sent, headers: { authorization: `Bearer ${token}`, ...headers } }),
  };
};

/** A new account with a full API key, and calls made as either. */
export const signUp = async () => {
  const account = await register();
  const created = await account.asSession('POST', '/api/create-api-key', { name: 'first' });
  if (created.status !== 201) throw new Error(`create-api-key answered ${JSON.stringify(created.body)}`);
  const apiKey: string = created.body.api_key;
  return {
    ...account,
    apiKey,
    apiKeyId: created.body.id as string,
    asKey: (method: string, path: string, sent?: unknown, headers: Record<string, string> = {}) =>
      call(method, path, { body: sent, headers: { 'x-api-key': apiKey, ...headers } }),
    verify: (licenseKey: string, key = apiKey) =>
      call('POST', '/api/v1/licenses/verify', {
        body: { license_key: licenseKey },
        headers: { 'x-api-key': key },
      }),
    /** By session, so that it costs no usage. */
    createLicense: async (fields: Record<string, unknown> = {}): Promise<Json> =>
      (await account.asSession('POST', '/api/v1/licenses/create', fields)).body,
  };
};

export type Customer = Awaited<ReturnType<typeof signUp>>;
