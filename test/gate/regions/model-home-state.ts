import type { Update } from '../../../src/gate/rules/messages.ts';
import type { KnownShare } from '../../../src/gate/rules/shares.ts';
import type { Process, Turn } from './model-process.ts';
import type { Rules } from './model-rules.ts';
import type { Settings } from './model-steps.ts';
import {
  type BranchName,
  BRANCHES,
  type HomeDisk,
  type HomeMemory,
  type KnownBranch,
  LICENSES,
  type Row,
} from './model-types.ts';

export interface HomeSettings {
  limit: number;
  /** The rate limit of the one key. */
  callsPerSecond: number;
  periodAt: (nowMs: number) => number;
  /** The operator's settings at a start of home, by its number. */
  settingsOf: (start: number) => Settings;
  /** The versions in D1. */
  versions: () => readonly number[];
}

export type Home = Process<HomeDisk, HomeMemory>;

export const newHomeDisk = (): HomeDisk => ({
  starts: 0,
  revision: 0,
  versions: Array.from({ length: LICENSES }, () => 0),
  log: [],
  counted: {},
  calls: [],
  events: [],
  branches: {},
  openings: 0,
  renewals: 0,
});

export const openedBranches = (disk: HomeDisk): BranchName[] =>
  BRANCHES.filter((name) => disk.branches[name]);

export const knownBranch = ({ memory }: Home, name: BranchName): KnownBranch => {
  const known = memory.known[name];
  if (!known) throw new Error(`Home knows its branch ${name}.`);
  return known;
};

/** What home knows of a branch that it opens, or found opened when it started. */
export const newKnownBranch = (
  leasedUntilMs: number,
  share: KnownShare,
  reported: number | null = null,
): KnownBranch => ({
  leasedUntilMs,
  applied: reported ?? 0,
  reported,
  share,
  isLapsed: false,
  usedLately: 0,
  toldMs: -Infinity,
});

export const quotaAt = (rules: Rules, { disk }: Home, limit: number, periodStartMs: number) => ({
  limit,
  counted: disk.counted[periodStartMs] ?? 0,
  escrows: openedBranches(disk).map(
    (name) =>
      rules.escrowOf(disk.branches[name]?.escrows ?? [], periodStartMs) ?? rules.newEscrow(periodStartMs),
  ),
});

/** Everything that home has to say to a branch which has applied the revision `after`. */
export const updateFor = (
  rules: Rules,
  home: Home,
  name: BranchName,
  { after, isRecall }: { after: number | null; isRecall: boolean },
): Update<Row> => {
  const { revision, log, versions, branches } = home.disk;
  const { opening = 0, escrows = [] } = branches[name] ?? {};
  const isReset = after !== null && after < revision - log.length;
  const changed = isReset || after === null ? [] : log.filter((entry) => entry.revision > after);
  const rows = [...new Set(changed.map(({ license }) => license))].map((license) => ({
    license,
    version: versions[license] ?? 0,
    asOf: revision,
  }));
  return {
    opening,
    feed: after === null ? null : { after, through: revision, isReset, rows },
    grants: escrows.map((escrow) => ({
      periodStartMs: escrow.periodStartMs,
      granted: escrow.granted,
      others: rules.usedByOthers(quotaAt(rules, home, 0, escrow.periodStartMs), escrow),
    })),
    share: knownBranch(home, name).share.offered,
    isRecall,
    isClosing: !home.memory.settings.isOn,
  };
};

export const tell = (rules: Rules, home: Home, turn: Turn, name: BranchName, isRecall: boolean) => {
  const known = knownBranch(home, name);
  known.toldMs = turn.nowMs;
  const update = updateFor(rules, home, name, { after: known.reported, isRecall });
  turn.send(name, { kind: 'tell', update }, `home-${name}`);
};
