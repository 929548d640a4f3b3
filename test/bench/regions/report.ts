// Prints the results. Each line says that the network is simulated.
import { CALLER_REGIONS, COMMIT_MS, IN_REGION_MS, roundTripMs } from '../../support/round-trips.ts';
import { median } from '../rounds.ts';
import { atLeast, atMost, ms, perSecond, type Row, table } from '../rows.ts';
import type { ChangeFigure, CutFigures } from './change-stage.ts';
import type { CostFigures, Spent } from './cost-stage.ts';
import type { HomeFigures } from './home-stage.ts';
import type { Compared, LatencyFigures } from './latency-stage.ts';
import { FAR, HOME } from './world.ts';

export interface Figures {
  latency: LatencyFigures;
  changes: ChangeFigure[];
  cut: CutFigures;
  costs: CostFigures;
  home: HomeFigures;
}

const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

const SLOWEST_MS = Math.max(...FAR.map((region) => roundTripMs(HOME, region)));

const changeP50 = (changes: ChangeFigure[], count: number) =>
  changes.find(({ branches }) => branches === count)?.p50Ms ?? Number.NaN;

export const ratiosOf = ({ latency, changes, costs, home }: Figures) => {
  const far = FAR.flatMap((region) => latency.one[region] ?? []);
  return {
    p50_far_vs_home_only: mean(far.map(({ homeOnly, branches }) => branches.p50Ms / homeOnly.p50Ms)),
    p50_overhead_ms: median(far.map(({ branches }) => branches.p50Ms)) - latency.floor.p50Ms,
    suspend_extra_vs_slowest_rtt: (changeP50(changes, FAR.length) - changeP50(changes, 0)) / SLOWEST_MS,
    home_only_cost: home.ratio,
    rows_home_only: costs.many.homeOnly.homeRows,
    rows_branches: costs.many.branches.homeRows + costs.many.branches.branchRows,
    dollars_home_only: costs.many.homeOnly.dollars,
    dollars_branches: costs.many.branches.dollars,
  };
};

const NETWORK = 'simulated network';

const latencyRow = (what: string, { homeOnly, branches }: Compared): Row => [
  `${NETWORK}: verify ${what}, p50 (p95), branches against home only`,
  `${ms(branches.p50Ms)} (${ms(branches.p95Ms)}) against ${ms(homeOnly.p50Ms)} (${ms(homeOnly.p95Ms)})`,
  (branches.p50Ms / homeOnly.p50Ms).toFixed(2),
  '',
  '',
];

const fact = (what: string, figure: string): Row => [`${NETWORK}: ${what}`, figure, '', '', ''];

const seconds = (value: number) => `${(value / 1_000).toFixed(1)} s`;

const spentText = ({ homeRows, branchRows, dollars }: Spent) =>
  `${homeRows.toFixed(2)} rows at home, ${branchRows.toFixed(2)} in branches, $${dollars.toFixed(2)}`;

const costRow = (what: string, { homeOnly, branches }: CostFigures['many']): Row =>
  fact(
    `rows of a verify and price of a million, ${what}, branch against home only`,
    `${spentText(branches)} against ${spentText(homeOnly)}`,
  );

export const resultTable = (figures: Figures): string => {
  const { latency, changes, cut, costs, home } = figures;
  const ratios = ratiosOf(figures);
  return table([
    ...CALLER_REGIONS.flatMap((region) => {
      const compared = latency.one[region];
      return compared ? [latencyRow(`from ${region}`, compared)] : [];
    }),
    ...CALLER_REGIONS.flatMap((region) => {
      const compared = latency.many[region];
      return compared ? [latencyRow(`from ${region}, 16 connections`, compared)] : [];
    }),
    atMost(
      `${NETWORK}: verify in the six regions with a branch, p50 against home only, mean`,
      '',
      ratios.p50_far_vs_home_only,
      0.3,
    ),
    fact(
      `a call within a region that only writes a row (nominally ${IN_REGION_MS + COMMIT_MS} ms), p50 (p95)`,
      `${ms(latency.floor.p50Ms)} (${ms(latency.floor.p95Ms)})`,
    ),
    atMost(
      `${NETWORK}: milliseconds of a branch’s p50 beyond such a call`,
      ms(ratios.p50_overhead_ms),
      ratios.p50_overhead_ms,
      5,
    ),
    ...changes.map(({ branches, p50Ms }) => fact(`suspend, p50, ${branches} branches`, ms(p50Ms))),
    atMost(
      `${NETWORK}: what six branches add to a suspend, against the slowest round trip`,
      `${ms(changeP50(changes, FAR.length) - changeP50(changes, 0))} against ${ms(SLOWEST_MS)}`,
      ratios.suspend_extra_vs_slowest_rtt,
      1.4,
    ),
    fact('region cut off from home: its branch went on to answer for', seconds(cut.answeredForMs)),
    fact(
      'region cut off, callers inside, p50: from the branch; then 503',
      `${ms(cut.inside.branch.p50Ms)}; ${ms(cut.inside.refused.p50Ms)}`,
    ),
    fact(
      'region cut off, its callers that reach home, p50: from the branch; then from home',
      `${ms(cut.aside.branch.p50Ms)}; ${ms(cut.aside.home.p50Ms)}`,
    ),
    fact('region cut off: a suspend meanwhile', seconds(cut.changeMs)),
    fact('region cut off: until the branch answers again after the cut', seconds(cut.healedMs)),
    costRow('64 connections', costs.many),
    costRow('one connection', costs.one),
    fact(
      'an open branch without calls, with its home',
      `${Math.round(costs.idleRowsPerDay)} rows a day, $${costs.idleDollarsPerMonth.toFixed(2)} a month`,
    ),
    atLeast(
      'verifies for a second of CPU time, no branch open, against the feature off (no simulated network)',
      `${perSecond(1_000 / home.on)} against ${perSecond(1_000 / home.off)}`,
      ratios.home_only_cost,
      0.97,
    ),
  ]);
};
