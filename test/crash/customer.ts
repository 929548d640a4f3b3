// An account with a key and an endpoint, and what it was told had been done.
import type { ApiResponse, Service } from '../e2e/support/service.ts';
import type { Inbox, Receiver } from './receiver.ts';

export interface Customer {
  accountId: string;
  endpointId: string;
  session: { authorization: string };
  apiKey: { 'x-api-key': string };
  inbox: Inbox;
}

/** The JSON of an answer that has to be a 2xx. */
export const expectOk = ({ status, body, text }: ApiResponse): unknown => {
  if (status < 200 || status > 299) throw new Error(`The service answered ${status}: ${text}`);
  return body;
};

export const signUp = async (service: Service, email: string) => {
  const credentials = { email, password: 'correct horse battery' };
  const { account, session } = expectOk(await service.post('/api/register', credentials)) as {
    account: { id: string };
    session: { token: string };
  };
  return { accountId: account.id, session: { authorization: `Bearer ${session.token}` } };
};

type Account = Pick<Customer, 'accountId' | 'session'>;

export const addKey = async (service: Service, account: Account) => {
  const key = expectOk(await service.post('/api/create-api-key', {}, account.session)) as { api_key: string };
  return { ...account, apiKey: { 'x-api-key': key.api_key } };
};

/** For every event, at a path of its own. */
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

/** The key of a new license, or null if the service refused. Made by session, a license costs no usage. */
export const createLicense = async (service: Service, { session }: Account): Promise<string | null> => {
  const { status, body } = await service.post(
    '/api/v1/licenses/create',
    { product: 'Orrery', customer_email: 'grace@example.com' },
    session,
  );
  return status === 201 ? (body as { license_key: string }).license_key : null;
};

/** True if the service said, with a 2xx, that the license is valid. */
export const verify = async (service: Service, { apiKey }: Pick<Customer, 'apiKey'>, licenseKey: string) => {
  const { status, body } = await service.post('/api/v1/licenses/verify', { license_key: licenseKey }, apiKey);
  return status === 200 && (body as { valid: boolean }).valid;
};

/** Deliveries that are not settled yet. */
export const countPending = async (service: Service, { endpointId, session }: Customer): Promise<number> => {
  let pending = 0;
  for (let cursor: string | null = ''; cursor !== null;) {
    const after: string = cursor === '' ? '' : `&cursor=${cursor}`;
    const page = expectOk(
      await service.get(`/api/webhooks/${endpointId}/deliveries?limit=100${after}`, session),
    ) as { data: { status: string }[]; next_cursor: string | null };
    pending += page.data.filter(({ status }) => status === 'pending').length;
    cursor = page.next_cursor;
  }
  return pending;
};
