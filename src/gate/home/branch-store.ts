import { type Region, REGIONS } from '../../shared/rules/regions.ts';
import type { Escrow } from '../rules/escrow.ts';
import type { ChangedRef, Report } from '../rules/messages.ts';
import { type KnownShare, newShare } from '../rules/shares.ts';
import type { OpenBranch } from '../rules/traffic.ts';
import type { BranchCounters } from '../rules/usage.ts';
import { openBranchLog } from './branch-log.ts';
import type { TrafficTable } from './traffic-table.ts';

// What home stores of its branches. A gate without branches writes none of it.

export interface BranchRecord {
  /** Names this opening of the branch. Numbers are never used again. */
  opening: number;
  openedAtMs: number;
  escrows: Escrow[];
  /** How long the branch may be leased after its last renewal, see `storedLeaseMs`. */
  leaseMs: number;
  renewedAtMs: number;
  /** What the branch had applied when it renewed, so that a restarted home need not ask. */
  applied?: number;
  /** The branch's calls by days and products, which home adds to its own when the branch closes. */
  counters?: Record<string, number>;
}

type StoredState = Omit<BranchRecord, 'opening'> & { share: KnownShare };

interface Facts extends Record<string, SqlStorageValue> {
  openings: number;
  /** Numbers the changes of home's copy. Unlike D1's numbers, it never goes back. */
  revision: number;
}

const LOST = 'lost_branches';

export const openBranchStore = ({ sql, kv }: DurableObjectStorage, traffic: TrafficTable) => {
  const [stored] = sql.exec<Facts>('SELECT openings, revision FROM branch_facts');
  const facts: Facts = stored ?? { openings: 0, revision: 0 };
  const log = openBranchLog(sql);
  const rows = sql.exec<{ region: Region; opening: number; state: string }>('SELECT * FROM branches');
  const records = new Map<Region, BranchRecord>();
  const shares = new Map<Region, KnownShare>();
  for (const { region, opening, state } of rows) {
    const { share, ...record } = JSON.parse(state) as StoredState;
    records.set(region, { opening, ...record });
    shares.set(region, share);
  }

  const saveFacts = (step: Partial<Facts>) => {
    Object.assign(facts, step);
    sql.exec(
      'INSERT OR REPLACE INTO branch_facts (only, term, openings, revision) VALUES (1, 0, ?, ?)',
      facts.openings,
      facts.revision,
    );
  };

  /** Home stores an offer before the branch learns of it, so a branch without one has no share. */
  const shareOf = (region: Region) => shares.get(region) ?? newShare();

  const lostRegions = () => kv.get<Region[]>(LOST) ?? [];

  /**
   * The regions whose branch home no longer knows, and which may still have copies or events. It answers nothing, and forgets them
   * once it reaches home or the outbox. Changes are part of the current transaction.
   */
  const lost = {
    all: lostRegions,
    add: (region: Region) => kv.put(LOST, [...new Set([...lostRegions(), region])]),
    remove: (regions: Region[]) => {
      if (regions.length > 0)
        kv.put(
          LOST,
          lostRegions().filter((region) => !regions.includes(region)),
        );
    },
  };

  const unwritten = new Set<Region>();

  const update = (region: Region, record: BranchRecord) => {
    records.set(region, record);
    unwritten.add(region);
  };

  /** Writes the updated records, as part of the current transaction. */
  const write = () => {
    for (const region of unwritten) {
      const record = records.get(region);
      if (!record) continue;
      const { opening, ...rest } = record;
      const state: StoredState = { ...rest, share: shareOf(region) };
      sql.exec(
        'INSERT OR REPLACE INTO branches (region, opening, state) VALUES (?, ?, ?)',
        region,
        opening,
        JSON.stringify(state),
      );
    }
    unwritten.clear();
  };

  return {
    records: records as ReadonlyMap<Region, BranchRecord>,
    facts: facts as Readonly<Facts>,
    update,
    write,
    traffic,

    /** The branches' shares of the rate limits. */
    shares: {
      get: shareOf,

      /** Notes what a branch has confirmed. It is written with the branch's record. */
      note: (region: Region, share: KnownShare) => shares.set(region, share),

      /** Stores a share with the next write. */
      save: (region: Region, share: KnownShare) => {
        shares.set(region, share);
        unwritten.add(region);
      },
    },

    /** The calls of all branches by days and products, as far as they have reported them. */
    counters: (): BranchCounters =>
      [...records.values()].flatMap(({ counters = {} }) => Object.entries(counters)),

    list: (): OpenBranch[] => [...records].map(([region, { openedAtMs }]) => ({ region, openedAtMs })),

    open: (region: Region, nowMs: number) => {
      saveFacts({ openings: facts.openings + 1 });
      update(region, {
        opening: facts.openings,
        openedAtMs: nowMs,
        escrows: [],
        leaseMs: 0,
        renewedAtMs: nowMs,
      });
    },

    /** Takes over what a branch says that was opened by a home of which only a backup is left. */
    adopt: (region: Region, { opening, escrows }: Report, nowMs: number) =>
      update(region, { opening, openedAtMs: nowMs, escrows, leaseMs: 0, renewedAtMs: nowMs }),

    remove: (region: Region) => {
      const record = records.get(region);
      if (!record) return;
      traffic.takeOver(record.opening);
      records.delete(region);
      shares.delete(region);
      unwritten.delete(region);
      sql.exec('DELETE FROM branches WHERE region = ?', region);
      if (records.size === 0) log.clear();
    },

    lost,

    /** Adds changes as part of the current transaction. */
    log: (changes: ChangedRef[]) => {
      let { revision } = facts;
      for (const change of changes) log.add(change, ++revision);
      saveFacts({ revision });
    },

    /** Lets branches drop their copies: what has changed until now is forgotten. */
    forgetLog: () => {
      saveFacts({ revision: facts.revision + 1 });
      log.forgetThrough(facts.revision);
    },

    /** Forgets the changes through a revision that all branches have applied. */
    forgetApplied: (revision: number) => {
      if (records.size > 0) log.forgetThrough(revision);
    },

    /** Returns the changes after a revision. */
    feedAfter: (after: number) => log.feedAfter(after, facts.revision),
  };
};

export type BranchStore = ReturnType<typeof openBranchStore>;

// A home that was restored from a backup doesn't know the branches that were opened after it. They answer until their leases
// end, and what they have counted is taken over with their next message.

const RESTORED = 'restored';
/** More branches than an account opens after a backup. */
const SKIPPED = 1_000_000;

interface Restored {
  atMs: number;
  /** The last opening in the backup, and the last one that may have been made until the restore. */
  knownOpenings: number;
  lastOpening: number;
}

/**
 * Prepares restored rows for branches that the backup doesn't know, as part of the transaction of the restore: numbers of
 * openings and changes that they may have seen are not used again, and they drop their copies.
 */
export const noteRestore = ({ sql, kv }: DurableObjectStorage, atMs: number): void => {
  const [facts] = sql.exec<{ openings: number; revision: number }>(
    'SELECT openings, revision FROM branch_facts',
  );
  const { openings: knownOpenings, revision } = facts ?? { openings: 0, revision: 0 };
  const [lastOpening, lastRevision] = [knownOpenings + SKIPPED, revision + SKIPPED];
  sql.exec(
    'INSERT OR REPLACE INTO branch_facts (only, term, openings, revision) VALUES (1, 0, ?, ?)',
    lastOpening,
    lastRevision,
  );
  sql.exec('DELETE FROM branch_log');
  sql.exec("INSERT INTO branch_log (revision, kind, ref) VALUES (?, 'all', '')", lastRevision);
  kv.put(LOST, REGIONS);
  kv.put(RESTORED, { atMs, knownOpenings, lastOpening } satisfies Restored);
};

/** What home knows of its restore. `leaseMs` is how long a branch may be leased. */
export const openRestored = (kv: SyncKvStorage, leaseMs: number) => {
  const restored = kv.get<Restored>(RESTORED) ?? null;
  const leasedUntilMs = restored ? restored.atMs + leaseMs : 0;
  const adopted = new Set<number>();

  return {
    /** Whether branches may be leased that home doesn't know. */
    mayBeLeased: (nowMs: number) => nowMs < leasedUntilMs,

    /** Whether a branch was opened before the restore. It closes, because what the backup says of it may be outdated. */
    isLeftOver: (opening: number) => restored !== null && opening <= restored.lastOpening,

    /** Takes a branch for known that the backup doesn't have. Returns false if it has it, or has had it. */
    adopts: (opening: number): boolean => {
      if (!restored || opening <= restored.knownOpenings || opening > restored.lastOpening) return false;
      if (adopted.has(opening)) return false;
      adopted.add(opening);
      return true;
    },
  };
};
