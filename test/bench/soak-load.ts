// What one account does all the time, and what it was told.
import { setTimeout as delay } from 'node:timers/promises';
import { type Customer, expectOk } from '../crash/customer.ts';
import type { ApiResponse, Service } from '../e2e/support/service.ts';

export interface Told {
  /** Keys of licenses whose creation was answered with 201. */
  created: string[];
  /** By license: verifies that were answered with `valid: true`. */
  verified: Map<string, number>;
  /** Calls that count as usage and were answered with a 2xx. */
  counted: number;
  /** API keys that were made, used and deleted. */
  keys: number;
  /** Answers that nobody wanted. */
  unexpected: string[];
}

const VERIFIERS = 4;
const VERIFY_EVERY_MS = 100;
const CREATE_EVERY_MS = 500;
const CHURN_EVERY_MS = 1_000;
/** One verify in so many is for a license that there is not. */
const ONE_UNKNOWN_IN = 10;

type Headers = Record<string, string>;

const account = (service: Service, { apiKey, session }: Customer, told: Told) => {
  const wonder = (what: string, { status, text }: ApiResponse) => {
    told.unexpected.push(`${what}: ${status} ${text.slice(0, 200)}`);
  };
  const verify = (licenseKey: string, headers: Headers) =>
    service.post('/api/v1/licenses/verify', { license_key: licenseKey }, headers);
  const anyLicense = () => told.created[Math.floor(Math.random() * told.created.length)];

  const verifyKnown = async (licenseKey: string, headers: Headers) => {
    const answer = await verify(licenseKey, headers);
    if (answer.status === 200) told.counted++;
    if (!answer.text.startsWith('{"valid":true')) return wonder('verify', answer);
    told.verified.set(licenseKey, (told.verified.get(licenseKey) ?? 0) + 1);
  };

  return {
    verifyOne: async () => {
      const licenseKey = anyLicense();
      if (!licenseKey) return;
      if (Math.random() * ONE_UNKNOWN_IN > 1) return verifyKnown(licenseKey, apiKey);
      const answer = await verify('NOBODYS-KEY', apiKey);
      if (answer.status === 200) told.counted++;
      if (!answer.text.includes('"not_found"')) wonder('verify of nothing', answer);
    },

    create: async () => {
      const license = { product: 'Orrery', customer_email: 'grace@example.com' };
      const answer = await service.post('/api/v1/licenses/create', license, apiKey);
      if (answer.status !== 201) return wonder('create', answer);
      told.counted++;
      told.created.push((answer.body as { license_key: string }).license_key);
    },

    /** A key that is made, serves, is deleted, and from then on is refused. */
    churn: async () => {
      const made = await service.post('/api/create-api-key', { name: 'for a moment' }, session);
      const { id, api_key } = expectOk(made) as { id: string; api_key: string };
      const headers = { 'x-api-key': api_key };
      const licenseKey = anyLicense();
      if (licenseKey) await verifyKnown(licenseKey, headers);
      const deleted = await fetch(`${service.origin}/api/api-keys/${id}`, {
        method: 'DELETE',
        headers: session,
      });
      await deleted.text();
      const refused = await verify(licenseKey ?? 'ANY-KEY', headers);
      if (deleted.status !== 200 || refused.status !== 403) wonder('verify with a deleted key', refused);
      told.keys++;
    },
  };
};

export const soakLoad = async (
  service: Service,
  customer: Customer,
  told: Told,
  goesOn: () => boolean,
): Promise<void> => {
  const { verifyOne, create, churn } = account(service, customer, told);
  const again = async (everyMs: number, call: () => Promise<void>) => {
    while (goesOn()) await Promise.all([call(), delay(everyMs)]);
  };
  await Promise.all([
    ...Array.from({ length: VERIFIERS }, () => again(VERIFY_EVERY_MS, verifyOne)),
    again(CREATE_EVERY_MS, create),
    again(CHURN_EVERY_MS, churn),
  ]);
};
