// How long a suspend takes while branches are open, and what it and verify take while a region is cut off.
import { setTimeout as delay } from 'node:timers/promises';
import type { Region } from '../../../src/shared/rules/regions.ts';
import { expectOk } from '../../crash/customer.ts';
import type { CallerRegion } from '../../support/round-trips.ts';
import { valueAt } from '../load/plan.ts';
import { median } from '../rounds.ts';
import type { Licensed } from '../seed.ts';
import type { Running } from '../service.ts';
import { answeredIn, FAR, HOME, openBranch, openLicensed, setNetwork, verifyFrom } from './world.ts';

const OPENED: Region[][] = [[], ['weur'], ['weur', 'wnam', 'apac-ne'], FAR];

export interface Changed extends Licensed {
  branches: Region[];
  /** The license that is suspended, while others are verified. */
  changedId: string;
}

interface Listed {
  id: string;
  license_key: string;
}

/** Indexes of the account's licenses. */
const VERIFIED = 0;
const CHANGED = 1;

/** Opens an account for each number of branches. */
export const openChanged = (service: Running): Promise<Changed[]> =>
  Promise.all(
    OPENED.map(async (branches) => {
      const account = await openLicensed(service, `branches-${branches.length}@example.com`, 1, 4);
      const headers = { 'x-api-key': valueAt(account.apiKeys, 0) };
      const { data } = expectOk(await service.get('/api/v1/licenses', headers)) as { data: Listed[] };
      const idOf = (licenseKey: string) => data.find((license) => license.license_key === licenseKey)?.id;
      const changedId = idOf(valueAt(account.licenses, CHANGED)) ?? '';
      return { ...account, branches, changedId };
    }),
  );

export const openBranches = async (service: Running, account: Changed): Promise<void> => {
  await Promise.all(account.branches.map((region) => openBranch(service, region, account)));
};

/** Suspends a license or reinstates it, called from home's region. Returns the time that it took. */
const changeOne = async (
  service: Running,
  { apiKeys, changedId }: Changed,
  transition: 'suspend' | 'reinstate',
): Promise<number> => {
  const headers = { 'x-api-key': valueAt(apiKeys, 0), 'caller-region': HOME };
  const startMs = performance.now();
  expectOk(await service.post(`/api/v1/licenses/${changedId}/${transition}`, {}, headers));
  return performance.now() - startMs;
};

export interface ChangeFigure {
  branches: number;
  p50Ms: number;
}

/** Measures suspends of all accounts in turn. */
export const measureChanges = async (
  service: Running,
  accounts: Changed[],
  rounds: number,
): Promise<ChangeFigure[]> => {
  const tookMs = accounts.map((): number[] => []);
  for (let round = 0; round <= rounds; round++) {
    for (const [i, account] of accounts.entries()) {
      const ms = await changeOne(service, account, 'suspend');
      await changeOne(service, account, 'reinstate');
      if (round > 0) tookMs[i]?.push(ms);
    }
  }
  return accounts.map(({ branches }, i) => ({
    branches: branches.length,
    p50Ms: median(tookMs[i] ?? []),
  }));
};

/** The region that is cut off from home. Its Workers don't reach home either. */
const CUT = 'weur';
/** Callers whose branch is cut off, but whose Workers reach home. */
const ASIDE = 'afr';
const VERIFY_EVERY_MS = 250;
const AFTER_LEASE_MS = 4_000;
const HEALING_TIMEOUT_MS = 30_000;

interface CutVerifies {
  calls: number;
  p50Ms: number;
}

export interface CutFigures {
  /** How long the branch went on to answer. */
  answeredForMs: number;
  changeMs: number;
  /** From the region that is cut off: answers of its branch, and 503 once its lease has ended. */
  inside: { branch: CutVerifies; refused: CutVerifies };
  /** From a region served by that branch, whose Workers reach home. */
  aside: { branch: CutVerifies; home: CutVerifies };
  /** Until the branch answered again after the cut. */
  healedMs: number;
}

interface Seen {
  atMs: number;
  tookMs: number;
  by: string;
}

const figureOf = (seen: Seen[], by: string): CutVerifies => {
  const tookMs = seen.filter((one) => one.by === by).map((one) => one.tookMs);
  return { calls: tookMs.length, p50Ms: median(tookMs) };
};

const watch = async (
  service: Running,
  region: CallerRegion,
  account: Changed,
  isOver: () => boolean,
): Promise<Seen[]> => {
  const seen: Seen[] = [];
  const startMs = performance.now();
  while (!isOver()) {
    const sentMs = performance.now();
    const response = await verifyFrom(service, region, account, VERIFIED);
    const by = response.status === 200 ? (answeredIn(response) ?? '') : String(response.status);
    seen.push({ atMs: sentMs - startMs, tookMs: performance.now() - sentMs, by });
    await delay(VERIFY_EVERY_MS);
  }
  return seen;
};

/** Cuts a region off from home, and makes a change at the same time. */
export const measureCut = async (service: Running, account: Changed): Promise<CutFigures> => {
  await setNetwork(service, { cuts: [[CUT, HOME]] });
  let isOver = false;
  const watched = Promise.all([
    watch(service, CUT, account, () => isOver),
    watch(service, ASIDE, account, () => isOver),
  ]);
  const changeMs = await changeOne(service, account, 'suspend');
  await delay(AFTER_LEASE_MS);
  isOver = true;
  const [inside, aside] = await watched;
  await setNetwork(service, { cuts: [] });
  const healingMs = performance.now();
  while (answeredIn(await verifyFrom(service, CUT, account, VERIFIED)) !== CUT) {
    if (performance.now() - healingMs > HEALING_TIMEOUT_MS) throw new Error('The branch did not come back.');
    await delay(VERIFY_EVERY_MS);
  }
  return {
    answeredForMs: Math.max(0, ...inside.filter(({ by }) => by === CUT).map(({ atMs }) => atMs)),
    changeMs,
    inside: { branch: figureOf(inside, CUT), refused: figureOf(inside, '503') },
    aside: { branch: figureOf(aside, CUT), home: figureOf(aside, HOME) },
    healedMs: performance.now() - healingMs,
  };
};
