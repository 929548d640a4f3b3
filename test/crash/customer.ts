// An account with an API key and a webhook, and its calls to the service.
import { setTimeout as delay } from 'node:timers/promises';
import type { ApiResponse, Client, Service } from '../e2e/support/service.ts';
import type { Inbox, Receiver } from './receiver.ts';

export interface Customer {
  accountId: string;
  endpointId: string;
  session: { authorization: string };
  apiKey: { 'x-api-key': string };
  inbox: Inbox;
}

/** Returns the JSON of a 2xx response, and throws for any other status. */
export const expectOk = ({ status, body, text }: ApiResponse): unknown => {
  if (status < 200 || status > 299) throw new Error(`The service responded ${status}: ${text}`);
  return body;
};

/** Repeats a call that a rate limit refuses, after its Retry-After of one second. */
export const withinRateLimit = async (call: () => Promise<ApiResponse>): Promise<ApiResponse> => {
  for (;;) {
    const response = await call();
    if (response.status !== 429) return response;
    await delay(1_000);
  }
};

/** `fields` are further fields of the registration. */
export const signUp = async (service: Client, email: string, fields: { home_region?: string } = {}) => {
  const input = { email, password: 'correct horse battery', ...fields };
  const { account, session } = expectOk(await service.post('/api/register', input)) as {
    account: { id: string };
    session: { token: string };
  };
  return { accountId: account.id, session: { authorization: `Bearer ${session.token}` } };
};

type Account = Pick<Customer, 'accountId' | 'session'>;

export const addKey = async (service: Client, account: Account) => {
  const create = () => service.post('/api/create-api-key', {}, account.session);
  const key = expectOk(await withinRateLimit(create)) as { api_key: string };
  return { ...account, apiKey: { 'x-api-key': key.api_key } };
};

/** Adds a webhook for all events, with its own path on the receiver. */
export const addEndpoint = async (
  service: Service,
  account: Account & Pick<Customer, 'apiKey'>,
  receiver: Receiver,
): Promise<Customer> => {
  const path = `/${account.accountId}`;
  const { id, secret } = expectOk(
    await service.post('/api/webhooks', { url: receiver.urlOf(path) }, account.session),
  ) as { id: string; secret: string };
  return { ...account, endpointId: id, inbox: receiver.open(path, secret) };
};

/** Returns the key of a new license, or null for an error response. Uses the session, which costs no usage. */
export const createLicense = async (service: Client, { session }: Account): Promise<string | null> => {
  const { status, body } = await service.post(
    '/api/v1/licenses/create',
    { product: 'Orrery', customer_email: 'grace@example.com' },
    session,
  );
  return status === 201 ? (body as { license_key: string }).license_key : null;
};

/** Calls that count toward the usage. */
export interface CallCounts {
  acknowledged: number;
  /** Calls without a response, or with a server error, may have been counted. */
  unknown: number;
}

/** Makes a call that counts toward the usage if it succeeds. */
export const countCall = async (
  counts: CallCounts,
  call: () => Promise<ApiResponse>,
): Promise<ApiResponse> => {
  counts.unknown++;
  const response = await call();
  if (response.status < 500) counts.unknown--;
  if (response.status === 200) counts.acknowledged++;
  return response;
};

/** Returns whether the service answered that the license is valid. */
export const verify = async (service: Client, { apiKey }: Pick<Customer, 'apiKey'>, licenseKey: string) => {
  const { status, body } = await service.post('/api/v1/licenses/verify', { license_key: licenseKey }, apiKey);
  return status === 200 && (body as { valid: boolean }).valid;
};

export interface Delivery {
  id: string;
  status: string;
  attempts: { time: string; status_code: number | null; error: string | null }[];
  next_attempt_at: string | null;
  payload: string;
}

/** Returns the pending deliveries of the webhook. */
export const listPending = async (
  service: Service,
  { endpointId, session }: Customer,
): Promise<Delivery[]> => {
  const pending: Delivery[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const after: string = cursor === '' ? '' : `&cursor=${cursor}`;
    const path = `/api/webhooks/${endpointId}/deliveries?limit=100${after}`;
    const page = expectOk(await withinRateLimit(() => service.get(path, session))) as {
      data: Delivery[];
      next_cursor: string | null;
    };
    pending.push(...page.data.filter(({ status }) => status === 'pending'));
    cursor = page.next_cursor;
  }
  return pending;
};
