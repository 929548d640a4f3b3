import { exports } from 'cloudflare:workers';
import { createAccount } from '../../src/sign-in/register.ts';
import { hashPassword } from '../../src/users/passwords.ts';
import { publicCtx } from './databases.ts';

export const ORIGIN = 'https://latchkey.test';

// oxlint-disable-next-line typescript/no-explicit-any -- The content of bodies is what the tests check.
export type Json = any;

export interface Answer {
  status: number;
  headers: Headers;
  body: Json;
}

let nextAddress = 0;

/** Returns an IP address that no caller has used yet, so that tests don't throttle each other. */
export const freshAddress = () => `10.0.${nextAddress >> 8}.${nextAddress++ & 255}`;

export interface CallOptions {
  body?: unknown;
  headers?: Record<string, string>;
}

/** The body of a stream is the list of its lines. */
const parseBody = ({ headers }: Response, text: string): Json => {
  if (text === '') return null;
  const isStream = headers.get('content-type') === 'application/x-ndjson';
  return isStream
    ? text
        .trimEnd()
        .split('\n')
        .map((line): Json => JSON.parse(line))
    : JSON.parse(text);
};

/** The status and the error code in short, as in `409 license_key_taken` and `200 ok`. */
export const outcomeOf = ({ status, body }: Pick<Answer, 'status' | 'body'>) =>
  `${status} ${body?.error?.code ?? 'ok'}`;

/** How often each outcome came. */
export const tallyOf = (answers: Answer[]) => {
  const tally: Record<string, number> = {};
  for (const answer of answers) tally[outcomeOf(answer)] = (tally[outcomeOf(answer)] ?? 0) + 1;
  return tally;
};

/** The text of any body. `text()` warns of bodies whose type isn't text, as lines of JSON. */
export const textOf = async (response: Response) => new TextDecoder().decode(await response.arrayBuffer());

/** Calls the Worker's fetch handler. A string body is sent as is, anything else as JSON. */
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
  const text = await textOf(response);
  return { status: response.status, headers: response.headers, body: parseBody(response, text) };
};

let accountCount = 0;

/** The password of all test accounts. */
export const PASSWORD = 'correct horse battery';

/** A new account with a session. */
export const register = async () => {
  const email = `person-${++accountCount}-${crypto.randomUUID().slice(0, 8)}@example.com`;
  const passwordHash = await hashPassword(PASSWORD);
  const { account, session } = await createAccount(publicCtx, { email, name: null, passwordHash });
  const asSession = (method: string, path: string, sent?: unknown, headers: Record<string, string> = {}) =>
    call(method, path, { body: sent, headers: { authorization: `Bearer ${session.token}`, ...headers } });
  return {
    email,
    password: PASSWORD,
    accountId: account.id,
    token: session.token,
    asSession,
    /** Proves the session again, which calls that want a fresh proof require ten minutes after it began. */
    prove: async () => {
      const { status } = await asSession('POST', '/api/reauthenticate', { password: PASSWORD });
      if (status !== 200) throw new Error(`reauthenticate answered ${status}`);
    },
  };
};

export type Account = Awaited<ReturnType<typeof register>>;

/** A new account with a session and an API key of full scope. */
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
    /** Creates a license with the session, so that no usage is counted. */
    createLicense: async (fields: Record<string, unknown> = {}): Promise<Json> =>
      (await account.asSession('POST', '/api/v1/licenses/create', fields)).body,
  };
};

export type Customer = Awaited<ReturnType<typeof signUp>>;
