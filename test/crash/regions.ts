// The crash run's service has branches, and its callers are in four regions.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Region } from '../../src/shared/rules/regions.ts';
import { type Service, startService } from '../e2e/support/service.ts';
import { type CallCounts, countCall, type Customer, expectOk } from './customer.ts';

export const HOME = 'enam' as const satisfies Region;
/** Where the callers are. Every region but home's has a branch. */
export const CALLERS = [HOME, 'weur', 'apac-ne', 'oc'] as const satisfies Region[];

const LEASE_SECONDS = 5;
export const LEASE_MS = LEASE_SECONDS * 1_000;

const VARIABLES = ['REGIONS:on', `REGIONS_LEASE_SECONDS:${LEASE_SECONDS}`, 'REGIONS_OPEN_AFTER:5'];
const COMMAND = ['npm', 'run', 'dev', '--', 'test/crash/fixtures/mailing.ts'];

/** Starts the service with branches, in a checkout. Slow commits would leave more events that arrive twice, so it has no delays. */
export const startWithBranches = async (folder: string, variables: string[]): Promise<Service> => {
  const settings = [...VARIABLES, ...variables].flatMap((variable) => ['--var', variable]);
  const service = await startService(folder, [...COMMAND, ...settings]);
  expectOk(await service.put('/api/simulated-network', { isSlow: false }));
  return service;
};

/** The usage limit of the free plan in the checkout. */
export const USAGE_LIMIT = 1_500;

/** Changes a file of a checkout. */
export const changeSource = (folder: string, path: string, change: (source: string) => string) => {
  const file = join(folder, path);
  const source = readFileSync(file, 'utf8');
  const changed = change(source);
  if (changed === source) throw new Error(`${path} has other values than expected.`);
  writeFileSync(file, changed);
};

/** Sets the usage limit of the free plan and lifts its rate limits, so that branches hold grants and the limit is soon reached. */
export const changeFreePlan = (folder: string) =>
  changeSource(folder, 'src/shared/rules/plans.ts', (source) =>
    source.replace(/free: \{[^}]*\}/, (plan) =>
      plan
        .replace('apiLimit: 1_000', `apiLimit: ${USAGE_LIMIT}`)
        .replace(/PerSecond: \d+/g, 'PerSecond: 1e6'),
    ),
  );

/** Verifies a license from a region. `answeredIn` is the region that has answered. */
export const verifyFrom = async (
  service: Service,
  { apiKey }: Pick<Customer, 'apiKey'>,
  licenseKey: string,
  region: Region,
  counts: CallCounts = { acknowledged: 0, unknown: 0 },
) => {
  const headers = { ...apiKey, 'caller-region': region };
  const input = { license_key: licenseKey };
  const answer = await countCall(counts, () => service.post('/api/v1/licenses/verify', input, headers));
  const { valid = false, error } = answer.body as { valid?: boolean; error?: { code: string } };
  return { valid, code: error?.code ?? null, answeredIn: answer.headers.get('latchkey-region') };
};

const MOST_CALLS = 100;

/** Calls from a region until its branch answers. Returns the number of counted calls. */
export const warmUp = async (
  service: Service,
  customer: Pick<Customer, 'apiKey'>,
  licenseKey: string,
  region: Region,
): Promise<number> => {
  for (let calls = 1; calls <= MOST_CALLS; calls++) {
    const { code, answeredIn } = await verifyFrom(service, customer, licenseKey, region);
    if (code !== null) throw new Error(`A verify from ${region} was refused: ${code}`);
    if (answeredIn === region) return calls;
  }
  throw new Error(`No branch in ${region} has answered.`);
};

export const readUsage = async (
  service: Service,
  { session }: Pick<Customer, 'session'>,
): Promise<number> => {
  const { usage } = expectOk(await service.get('/api/dashboard', session)) as {
    usage: { api_usage: number };
  };
  return usage.api_usage;
};

/** Suspends a license that all branches have, and returns the regions in which it is still valid. */
export const checkSuspension = async (service: Service, customer: Customer): Promise<string[]> => {
  const created = await service.post('/api/v1/licenses/create', {}, customer.session);
  const { id, license_key: licenseKey } = expectOk(created) as { id: string; license_key: string };
  await Promise.all(CALLERS.map((region) => warmUp(service, customer, licenseKey, region)));
  expectOk(await service.post(`/api/v1/licenses/${id}/suspend`, {}, customer.session));
  const answers = await Promise.all(
    CALLERS.map((region) => verifyFrom(service, customer, licenseKey, region)),
  );
  return CALLERS.filter((_region, i) => answers[i]?.code !== null || answers[i].valid);
};
