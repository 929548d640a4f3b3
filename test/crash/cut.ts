// A region that is cut off from home: it answers until its lease ends, and delays changes no longer than that.
import { setTimeout as delay } from 'node:timers/promises';
import type { Service } from '../e2e/support/service.ts';
import { type Customer, expectOk } from './customer.ts';
import { HOME, verifyFrom, warmUp } from './regions.ts';

const CUT_OFF = 'oc';
/** A change that waited for the cut to end would never end. Otherwise, it takes a lease, and as long as the machine needs. */
const MAX_CHANGE_MS = 60_000;
/** Where the lease ends before the first answer, as on a machine that is busy, the cut shows nothing. */
const MOST_CUTS = 5;
const VERIFY_EVERY_MS = 100;

/** Suspends a license while a region is cut off. Returns what the region has answered meanwhile, and how long that took. */
const suspendDuringCut = async (service: Service, customer: Customer) => {
  const created = await service.post('/api/v1/licenses/create', {}, customer.session);
  const { id, license_key: licenseKey } = expectOk(created) as { id: string; license_key: string };
  await warmUp(service, customer, licenseKey, CUT_OFF);
  const setCuts = async (cuts: [string, string][]) =>
    expectOk(await service.put('/api/simulated-network', { cuts }));
  const verify = async () => {
    const { valid, code } = await verifyFrom(service, customer, licenseKey, CUT_OFF);
    return code ?? (valid ? 'valid' : 'suspended');
  };

  await setCuts([[CUT_OFF, HOME]]);
  const startMs = performance.now();
  let tookMs = 0;
  const suspend = async () => {
    expectOk(await service.post(`/api/v1/licenses/${id}/suspend`, {}, customer.session));
    tookMs = performance.now() - startMs;
  };
  const answers: string[] = [];
  const callUntilSuspended = async () => {
    for (let isLast = false; !isLast;) {
      isLast = tookMs > 0;
      const answer = await verify();
      if (answer !== answers.at(-1)) answers.push(answer);
      await delay(VERIFY_EVERY_MS);
    }
  };
  await Promise.all([suspend(), callUntilSuspended()]);
  await setCuts([]);
  answers.push(await verify());
  return { answers, tookMs };
};

/** Returns what went wrong. */
export const checkCut = async (service: Service, customer: Customer): Promise<string[]> => {
  let { answers, tookMs } = await suspendDuringCut(service, customer);
  for (let cuts = 1; answers[0] !== 'valid' && cuts < MOST_CUTS; cuts++)
    ({ answers, tookMs } = await suspendDuringCut(service, customer));

  const sequence = answers.join(', ');
  console.log(`cut off        ${sequence}, suspended in ${tookMs.toFixed(0)} ms of at most ${MAX_CHANGE_MS}`);
  const errors: string[] = [];
  if (sequence !== 'valid, unavailable, suspended')
    errors.push(`a region that is cut off answers ${sequence}`);
  if (tookMs > MAX_CHANGE_MS) errors.push(`a region that is cut off delays a change by ${tookMs} ms`);
  return errors;
};
