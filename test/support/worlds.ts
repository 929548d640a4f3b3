// What many tests begin with: a seller, named ada, and what she has already.
import type { PlanName } from '../../src/shared/rules/plans.ts';
import { type Json, signUp } from './client.ts';
import { setPlan } from './gate.ts';
import { addEndpoint } from './outbox.ts';
import type { Reply } from './receiver-server.ts';
import { newReceiver } from './receiver.ts';
import { setHome } from './regions.ts';

export const sellerOn = async (plan: PlanName) => {
  const ada = await signUp();
  await setPlan(ada.accountId, plan);
  return ada;
};

/** A seller with one license. `openLicense` gives it terms. */
export const sellerWithLicense = async (fields: Json = {}, plan: PlanName = 'free') => {
  const ada = plan === 'free' ? await signUp() : await sellerOn(plan);
  const license = await ada.createLicense(fields);
  return { ada, license, id: license.id as string, license_key: license.license_key as string };
};

/** A seller whose home is in enam, with one license. */
export const sellerAtHome = async (plan: PlanName, fields: Json = {}) => {
  const ada = await sellerOn(plan);
  await setHome(ada.accountId, 'enam');
  const license = await ada.createLicense(fields);
  return { ada, license, licenseKey: license.license_key as string, licenseId: license.id as string };
};

/** A seller with a webhook endpoint, whose receiver answers with these replies, and then repeats the last. */
export const sellerWithWebhook = async (fields: Json = {}, ...replies: Reply[]) => {
  const ada = await signUp();
  const receiver = await newReceiver(...replies);
  const endpoint = await addEndpoint(ada, receiver.url, fields);
  return { ada, receiver, endpoint, ...endpoint };
};
