import { mistype } from '../http/security.ts';
import type { Customer } from '../support/client.ts';

const verifyOnlyKey = async ({ asSession }: Customer): Promise<string> =>
  (await asSession('POST', '/api/create-api-key', { scope: 'verify' })).body.api_key;

/** Who calls, and with which credentials. */
const CREDENTIALS = {
  anonymous: () => ({}),
  session: ({ token }: Customer) => ({ authorization: `Bearer ${token}` }),
  key: ({ apiKey }: Customer) => ({ 'x-api-key': apiKey }),
  'verify-only key': async (ada: Customer) => ({ 'x-api-key': await verifyOnlyKey(ada) }),
  'forged key': ({ apiKey }: Customer) => ({ 'x-api-key': mistype(apiKey) }),
  'forged session': () => ({ authorization: 'Bearer lks_unknown' }),
  'foreign page': ({ token }: Customer) => ({
    cookie: `__Host-session=${token}`,
    origin: 'https://elsewhere.example',
  }),
} satisfies Record<string, (ada: Customer) => object>;

export type Caller = keyof typeof CREDENTIALS;

export const credentialsOf = (
  caller: Caller,
  ada: Customer,
): Promise<Record<string, string>> | Record<string, string> => CREDENTIALS[caller](ada);
