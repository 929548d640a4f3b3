// Makes the calls of one account and records the responses.
import { setTimeout as delay } from 'node:timers/promises';
import type { Region } from '../../src/shared/rules/regions.ts';
import { type Customer, expectOk } from '../crash/customer.ts';
import { HOME } from '../crash/regions.ts';
import type { ApiResponse, Service } from '../e2e/support/service.ts';

export interface Acknowledged {
  /** Keys of the licenses that were created. */
  created: string[];
  /** The number of verify calls per license key that answered `valid: true`. */
  verified: Map<string, number>;
  /** Successful calls that count toward the usage. */
  counted: number;
  /** Verifies that a branch has answered. */
  inBranches: number;
  /** The number of API keys that were created, used and deleted. */
  keys: number;
  /** Responses with an unexpected status or body. */
  unexpected: string[];
}

const VERIFIERS = 4;
const VERIFY_EVERY_MS = 100;
const CREATE_EVERY_MS = 500;
const CHURN_EVERY_MS = 1_000;
/** One verify call in this many is for an unknown license. An address may make 60 of these a minute. */
const ONE_UNKNOWN_IN = 100;

type Headers = Record<string, string>;

const account = (
  service: Service,
  { apiKey, session }: Customer,
  acknowledged: Acknowledged,
  callers: readonly Region[],
) => {
  const reportUnexpected = (what: string, { status, text }: ApiResponse) => {
    acknowledged.unexpected.push(`${what}: ${status} ${text.slice(0, 200)}`);
  };
  const verify = async (licenseKey: string, headers: Headers) => {
    const from = { ...headers, 'caller-region': callers[Math.floor(Math.random() * callers.length)] ?? HOME };
    const response = await service.post('/api/v1/licenses/verify', { license_key: licenseKey }, from);
    const answeredIn = response.headers.get('latchkey-region');
    if (answeredIn !== null && answeredIn !== HOME) acknowledged.inBranches++;
    return response;
  };
  /** Returns older licenses more often, so that branches have them. */
  const anyLicense = () => acknowledged.created[Math.floor(Math.random() ** 3 * acknowledged.created.length)];

  const verifyKnown = async (licenseKey: string, headers: Headers) => {
    const response = await verify(licenseKey, headers);
    if (response.status === 200) acknowledged.counted++;
    if (!response.text.startsWith('{"valid":true')) return reportUnexpected('verify', response);
    acknowledged.verified.set(licenseKey, (acknowledged.verified.get(licenseKey) ?? 0) + 1);
  };

  return {
    verifyOne: async () => {
      const licenseKey = anyLicense();
      if (!licenseKey) return;
      if (Math.random() * ONE_UNKNOWN_IN > 1) return verifyKnown(licenseKey, apiKey);
      const response = await verify('UNKNOWN-KEY', apiKey);
      if (!response.text.includes('"not_found"')) reportUnexpected('verify of an unknown license', response);
    },

    create: async () => {
      const license = { product: 'Orrery', customer_email: 'grace@example.com' };
      const response = await service.post('/api/v1/licenses/create', license, apiKey);
      if (response.status !== 201) return reportUnexpected('create', response);
      acknowledged.counted++;
      acknowledged.created.push((response.body as { license_key: string }).license_key);
    },

    /** Creates an API key, uses it, deletes it, and checks that it is rejected afterwards. */
    churn: async () => {
      const created = await service.post(
        '/api/create-api-key',
        { name: 'Temporary', scope: 'verify' },
        session,
      );
      const { id, api_key } = expectOk(created) as { id: string; api_key: string };
      const headers = { 'x-api-key': api_key };
      const licenseKey = anyLicense();
      if (licenseKey) await verifyKnown(licenseKey, headers);
      const deleted = await fetch(`${service.origin}/api/api-keys/${id}`, {
        method: 'DELETE',
        headers: session,
      });
      await deleted.text();
      const rejected = await verify(licenseKey ?? 'ANY-KEY', headers);
      if (deleted.status !== 200 || rejected.status !== 403)
        reportUnexpected('verify with a deleted key', rejected);
      acknowledged.keys++;
    },
  };
};

export const soakLoad = async (
  service: Service,
  customer: Customer,
  acknowledged: Acknowledged,
  callers: readonly Region[],
  isRunning: () => boolean,
): Promise<void> => {
  const { verifyOne, create, churn } = account(service, customer, acknowledged, callers);
  const repeat = async (everyMs: number, call: () => Promise<void>) => {
    while (isRunning()) await Promise.all([call(), delay(everyMs)]);
  };
  await Promise.all([
    ...Array.from({ length: VERIFIERS }, () => repeat(VERIFY_EVERY_MS, verifyOne)),
    repeat(CREATE_EVERY_MS, create),
    repeat(CHURN_EVERY_MS, churn),
  ]);
};
