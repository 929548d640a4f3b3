// 5,000 verifies at once from four regions against a usage limit that leaves 1,000.
import type { Service } from '../e2e/support/service.ts';
import { addKey, createLicense, signUp } from './customer.ts';
import { CALLERS, HOME, readUsage, USAGE_LIMIT, verifyFrom, warmUp } from './regions.ts';

const CALLS = 5_000;
const LEFT = 1_000;
/** Few enough that a busy machine answers each call before the service stops to wait for it. */
const CONNECTIONS_PER_REGION = 24;

/** Returns what went wrong. */
export const checkLimit = async (service: Service): Promise<string[]> => {
  const account = await signUp(service, 'limit@example.com', { home_region: HOME });
  const customer = await addKey(service, account);
  const licenseKey = await createLicense(service, account);
  if (!licenseKey) throw new Error('The license could not be created.');
  const warmUps = await Promise.all(CALLERS.map((region) => warmUp(service, customer, licenseKey, region)));
  let used = warmUps.reduce((sum, calls) => sum + calls, 0);

  const outcomes = new Map<string, number>();
  const answeredIn = new Set<string | null>();
  const repeat = async (count: number, regions: readonly (typeof CALLERS)[number][]) => {
    const connection = async (region: (typeof CALLERS)[number], next: () => boolean) => {
      while (next()) {
        const answer = await verifyFrom(service, customer, licenseKey, region);
        const outcome = answer.code ?? 'admitted';
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
        answeredIn.add(answer.answeredIn);
      }
    };
    await Promise.all(
      regions.flatMap((region) => {
        let started = 0;
        const next = () => started++ < count / regions.length;
        return Array.from({ length: CONNECTIONS_PER_REGION }, () => connection(region, next));
      }),
    );
  };

  await repeat(USAGE_LIMIT - LEFT - used, [HOME]);
  used += outcomes.get('admitted') ?? 0;
  outcomes.clear();
  answeredIn.clear();
  await repeat(CALLS, CALLERS);

  const errors: string[] = [];
  const expectEqual = (what: string, actual: unknown, expected: unknown) => {
    if (actual !== expected) errors.push(`${what}: ${String(actual)} instead of ${String(expected)}`);
  };
  expectEqual('calls before', used, USAGE_LIMIT - LEFT);
  expectEqual('admitted calls', outcomes.get('admitted'), LEFT);
  expectEqual('refused calls', outcomes.get('usage_limit_exceeded'), CALLS - LEFT);
  for (const region of CALLERS) {
    if (!answeredIn.has(region)) errors.push(`no call was answered in ${region}`);
    const { code } = await verifyFrom(service, customer, licenseKey, region);
    expectEqual(`the answer in ${region} afterwards`, code, 'usage_limit_exceeded');
  }
  expectEqual('usage', await readUsage(service, account), USAGE_LIMIT);
  return errors;
};
