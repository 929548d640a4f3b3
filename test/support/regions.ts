import { createExecutionContext } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { eq } from 'drizzle-orm';
import { accounts } from '../../src/db/schema.ts';
import { commit } from '../../src/gate/feed.ts';
import worker from '../../src/index.ts';
import type { Region } from '../../src/shared/rules/regions.ts';
import { type Customer, ORIGIN } from './client.ts';
import { ctxOf } from './databases.ts';

/** A data center in each region. */
const COLOS: Record<Region, string> = {
  wnam: 'SJC',
  enam: 'IAD',
  weur: 'AMS',
  eeur: 'WAW',
  'apac-ne': 'NRT',
  'apac-se': 'SIN',
  oc: 'SYD',
};

/** Sets the region of the account's home, as registration does. */
export const setHome = async (accountId: string, homeRegion: Region) => {
  const ctx = ctxOf(accountId);
  await commit(
    ctx,
    [ctx.db.update(accounts).set({ homeRegion }).where(eq(accounts.id, accountId))],
    [{ kind: 'account', ref: accountId }],
  );
};

/** Verifies a license from a region, while regions are on or off. */
export const verifyFrom = async (
  region: Region,
  { apiKey }: Pick<Customer, 'apiKey'>,
  licenseKey: string,
  regions: 'on' | 'off' = 'on',
) => {
  const request = new Request(`${ORIGIN}/api/v1/licenses/verify`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': apiKey },
    body: JSON.stringify({ license_key: licenseKey }),
    cf: { colo: COLOS[region] } as CfProperties,
  });
  const response = await worker.fetch(request, { ...env, REGIONS: regions }, createExecutionContext());
  const body: Record<string, unknown> = await response.json();
  return { status: response.status, region: response.headers.get('latchkey-region'), body };
};
