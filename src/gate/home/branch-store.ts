import type { Region } from '../../shared/rules/regions.ts';
import { type Escrow, type KnownShare, newShare } from '../rules/limits.ts';
import type { ChangedRef, Feed, Report } from '../rules/messages.ts';
import type { OpenBranch } from '../rules/traffic.ts';
import type { BranchCounters } from '../rules/usage.ts';

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

/** With more rows, the log forgets the earlier half. */
const LOG_LENGTH = 1_000;

/** One string for a row. Kinds have no spaces. */
const nameOf = ({ kind, ref }: ChangedRef) => `${kind} ${ref}`;

type LogRow = { revision: number; kind: ChangedRef['kind'] | 'all'; ref: string };
type LoggedRef = ChangedRef & { revision: number };

/**
 * The log of what has changed for branches. Only the last change of a row matters, so each row is in it once, however often it
 * has changed. The row of the kind `all` is where the log begins: what was before it is forgotten.
 */
const openBranchLog = (sql: SqlStorage) => {
  let begin = 0;
  /** The logged rows by their names, in the order of their revisions. */
  const logged = new Map<string, LoggedRef>();
  const stored = sql.exec<LogRow>('SELECT revision, kind, ref FROM branch_log ORDER BY revision');
  for (const { revision, kind, ref } of stored) {
    if (kind === 'all') begin = revision;
    else logged.set(nameOf({ kind, ref }), { revision, kind, ref });
  }

  const insert = ({ revision, kind, ref }: LogRow) =>
    sql.exec('INSERT INTO branch_log (revision, kind, ref) VALUES (?, ?, ?)', revision, kind, ref);

  /** Forgets the changes through a revision. Branches that haven't applied them drop their copy. What is forgotten stays so. */
  const forgetThrough = (revision: number) => {
    if (revision <= begin) return;
    sql.exec('DELETE FROM branch_log WHERE revision <= ?', revision);
    for (const [name, row] of logged) if (row.revision <= revision) logged.delete(name);
    insert({ revision, kind: 'all', ref: '' });
    begin = revision;
  };

  return {
    forgetThrough,

    /** Adds a change, as part of the current transaction. */
    add: (change: ChangedRef, revision: number) => {
      const name = nameOf(change);
      const before = logged.get(name);
      if (before) {
        sql.exec('DELETE FROM branch_log WHERE revision = ?', before.revision);
        logged.delete(name);
      }
      const row = { ...change, revision };
      insert(row);
      logged.set(name, row);
      if (logged.size <= LOG_LENGTH) return;
      const middle = [...logged.values()][LOG_LENGTH / 2];
      if (middle) forgetThrough(middle.revision);
    },

    clear: () => {
      sql.exec('DELETE FROM branch_log');
      logged.clear();
      begin = 0;
    },

    /** Returns the changes after a revision. `through` is the last revision. */
    feedAfter: (after: number, through: number): Feed<ChangedRef> => {
      const isReset = after < begin;
      const changed = isReset ? [] : [...logged.values()].filter(({ revision }) => revision > after);
      return { after, through, isReset, rows: changed.map(({ kind, ref }) => ({ kind, ref })) };
    },
  };
};

interface Facts extends Record<string, SqlStorageValue> {
  openings: number;
  /** Numbers the changes of home's copy. Unlike D1's numbers, it never goes back. */
  revision: number;
}

/** The branches that home no longer knows. */
export const LOST = 'lost_branches';

export const openBranchStore = (
  { sql, kv }: DurableObjectStorage,
  traffic: { takeOver: (opening: number) => void },
) => {
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
