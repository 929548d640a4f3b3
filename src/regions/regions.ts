import type * as z from 'zod';
import { getAccount } from '../db/account.ts';
import type { Ctx } from '../db/ctx.ts';
import {
  type OpenBranch,
  quantileMs,
  readRouteName,
  type RegionStatistics,
  type Route,
  sumRoutes,
  TRAFFIC_DAYS,
} from '../gate/rules/traffic.ts';
import { settingsOf } from '../shared/config/settings.ts';
import { gateOf } from '../shared/objects/address.ts';
import { addDays, isoDate } from '../shared/rules/dates.ts';
import { findMove } from './home.ts';
import { type regionsBody, toBranch } from './schemas.ts';

const NOTHING: RegionStatistics = { branches: [], routes: {} };

/** Returns the open branches of the account's gate. There are none while regions are off. */
export const listBranches = async ({ env, accountId }: Ctx): Promise<OpenBranch[]> =>
  settingsOf(env).hasRegions ? (await gateOf(env, accountId).regionStatistics(null)).branches : [];

const figuresOf = ({ calls, waits }: Route) => ({
  calls,
  p50_ms: quantileMs(waits, 0.5),
  p95_ms: quantileMs(waits, 0.95),
});

const byCalls = (a: { calls: number }, b: { calls: number }) => b.calls - a.calls;

const toRegions = (routes: RegionStatistics['routes']): z.infer<typeof regionsBody>['regions'] => {
  const named = Object.entries(routes).map(([name, route]) => ({ ...readRouteName(name), route }));
  return [...Map.groupBy(named, ({ from }) => from)]
    .map(([region, from]) => ({
      region,
      ...figuresOf(sumRoutes(from.map(({ route }) => route))),
      answered_by: from.map(({ to, route }) => ({ region: to, ...figuresOf(route) })).toSorted(byCalls),
    }))
    .toSorted(byCalls);
};

export const getRegions = async (ctx: Ctx): Promise<z.infer<typeof regionsBody>> => {
  const { env, accountId } = ctx;
  const fromDate = addDays(isoDate(Date.now()), 1 - TRAFFIC_DAYS);
  const enabled = settingsOf(env).hasRegions;
  const [{ homeRegion }, movingTo, { branches, routes }] = await Promise.all([
    getAccount(ctx),
    findMove(ctx),
    enabled ? gateOf(env, accountId).regionStatistics(fromDate) : NOTHING,
  ]);
  return {
    enabled,
    home_region: homeRegion,
    moving_to: movingTo,
    branches: branches.map(toBranch),
    days: TRAFFIC_DAYS,
    regions: toRegions(routes),
  };
};
