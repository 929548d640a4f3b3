import type { PresentedKey } from '../../src/shared/rules/api-keys.ts';
import type { PlanName } from '../../src/shared/rules/plans.ts';
import type { Region } from '../../src/shared/rules/regions.ts';
import { HOME } from './world.ts';

// The account of a simulation, as D1 has it in the beginning.

/** Callers are near home, and in two regions that may have branches. */
export const BRANCHES = ['oc', 'weur'] as const satisfies Region[];
export const REGIONS: readonly Region[] = [HOME, ...BRANCHES];

export const ACCOUNT = 'acct_1';
export const KEYS = 3;
/** Two plain licenses, one with two seats that are held until they are released, and one with a floating seat. */
export const LICENSES = ['PLAIN-0000', 'PLAIN-1111', 'NODES-2222', 'FLOAT-3333'] as const;
export const NODES = 2;
export const FLOAT = 3;
export const SEATS: Record<number, number> = { [NODES]: 2, [FLOAT]: 1 };
export const PRODUCT = 'tool';

/** The version of a license is the number of its changes. Its expiry date shows it, and odd versions are suspended. */
export const FIRST_DATE = '2100-01-01';
export const versionOf = (expiresAt: string | null): number =>
  (Date.parse(expiresAt ?? '') - Date.parse(FIRST_DATE)) / 86_400_000;
export const isSuspendedAt = (version: number) => version % 2 === 1;

const quote = (value: unknown) => `'${typeof value === 'string' ? value : JSON.stringify(value)}'`;

const licenseRow = (licenseKey: string, i: number) => {
  const product = i === NODES ? quote(PRODUCT) : 'NULL';
  const terms = i === FLOAT ? { max_activations: SEATS[FLOAT], lease_seconds: 60 } : {};
  return `(${quote(`lic_${i}`)}, ${quote(ACCOUNT)}, ${quote(licenseKey)}, 'active', ${product}, 'ada@example.com', '{}',
    ${quote(terms)}, ${quote(FIRST_DATE)}, 0, 0)`;
};

/** The statements that create the account. */
export const createAccount = (plan: PlanName): string => `
  INSERT INTO accounts (id, email, name, plan, home_region, created_at)
    VALUES (${quote(ACCOUNT)}, 'seller@example.com', '0', ${quote(plan)}, ${quote(HOME)}, 0);
  INSERT INTO api_keys (id, account_id, scope, fingerprint, sealed, secret_id, masked_key, created_at) VALUES
    ${Array.from({ length: KEYS }, (_, i) => `('key_${i}', ${quote(ACCOUNT)}, 'full', 'print-${i}', '', '', '', 0)`).join()};
  INSERT INTO products (account_id, code, terms, created_at, updated_at)
    VALUES (${quote(ACCOUNT)}, ${quote(PRODUCT)},
      ${quote({ max_activations: SEATS[NODES], entitlements: { version: 0 } })}, 0, 0);
  INSERT INTO licenses (id, account_id, license_key, status, product, customer_email, metadata, terms, expires_at,
    created_at, updated_at) VALUES ${LICENSES.map(licenseRow).join()};`;

/** An API key as the Worker presents it. The address carries the name of the call, which tells calls in the network apart. */
export const presentKey = (key: number, callName: string): PresentedKey => ({
  accountId: ACCOUNT,
  keyId: `key_${key}`,
  fingerprint: `print-${key}`,
  ip: callName,
});
