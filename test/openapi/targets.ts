import type { Area, Call } from './area.ts';
import { ACCOUNTS } from './calls/accounts.ts';
import { API_KEYS } from './calls/api-keys.ts';
import { APPLICATIONS, OFFLINE_FILES } from './calls/applications.ts';
import { BILLING, CANCELED, SUBSCRIPTION } from './calls/billing.ts';
import { LICENSES } from './calls/licenses.ts';
import { NO_PORTAL, PORTAL } from './calls/portal.ts';
import { REJECTED } from './calls/rejected.ts';
import { REPORTS } from './calls/reports.ts';
import { PURCHASES, STORES, VERIFIED_SELLER } from './calls/stores.ts';
import { TWO_FACTOR, TWO_FACTOR_SETUP } from './calls/two-factor.ts';
import { WEBHOOKS } from './calls/webhooks.ts';

export interface Target {
  method: string;
  path: string;
  calls: Call[];
  area: Area;
}

/** Calls to every operation. Each succeeds, or fails with an error that the document names. */
export const TARGETS: Target[] = [
  ACCOUNTS,
  API_KEYS,
  APPLICATIONS,
  BILLING,
  CANCELED,
  LICENSES,
  NO_PORTAL,
  OFFLINE_FILES,
  PORTAL,
  REJECTED,
  PURCHASES,
  REPORTS,
  STORES,
  SUBSCRIPTION,
  TWO_FACTOR,
  TWO_FACTOR_SETUP,
  VERIFIED_SELLER,
  WEBHOOKS,
].flatMap((area) =>
  Object.entries(area.calls).map(([target, calls]) => {
    // A placeholder can contain spaces.
    const space = target.indexOf(' ');
    return { method: target.slice(0, space), path: target.slice(space + 1), calls, area };
  }),
);
