import { createLru } from '../../shared/memory/lru.ts';
import type { Terms } from '../../shared/rules/terms.ts';
import {
  type BranchUpdate,
  type ChangedRef,
  feedStep,
  type Forwarded,
  type KnownLicense,
  mayKeep,
  seatRef,
} from '../rules/messages.ts';
import type { CopiedAccount, CopiedKey, CopiedLicense } from '../rules/rows.ts';
import type { Machine } from '../rules/seats.ts';

// A branch's copy of some of home's rows: those that its callers have needed. A change deletes a row, and the next call
// that needs it is forwarded and brings the new one. A branch never answers from the absence of a row.

interface Facts {
  /** The last opening, which stays when the branch closes: a late message must not open it again. */
  opening: number;
  state: 'closed' | 'open' | 'closing';
  /** The last revision of home's copy that was applied. */
  applied: number;
  account: CopiedAccount | null;
  /** The last call as of the last update from home, because the object often restarts between two alarms. */
  lastCallMs: number;
}

type Kind = 'key' | 'license' | 'seat';
/** `resolved` are the terms that apply to the license. */
type KeptLicense = CopiedLicense & { isProduct: boolean; resolved: Terms | null };
type Seats = NonNullable<KnownLicense['count']>;

/** Sorts behind every seat of the license, see `seatRef`. */
const endOfSeats = (licenseKey: string) => `${licenseKey}!`;

const ROWS_IN_MEMORY = 5_000;
const CHANGES_IN_MEMORY = 1_000;
/** A tenth of what an object may store. */
const MAX_BYTES = 1_000_000_000;

export const openBranchCopy = (sql: SqlStorage, maxBytes = MAX_BYTES) => {
  const [stored] = sql.exec<{ value: string }>('SELECT value FROM facts');
  const facts: Facts = stored
    ? (JSON.parse(stored.value) as Facts)
    : { opening: 0, state: 'closed', applied: 0, account: null, lastCallMs: 0 };
  let keys = createLru<CopiedKey>(ROWS_IN_MEMORY);
  let licenses = createLru<KeptLicense>(ROWS_IN_MEMORY);
  let products = new Set<string>();
  /** The last revision that changed a row, for rows that home may be sending right now. */
  const changedAt = new Map<string, number>();
  /** The same for all rows: this process doesn't know what was changed before. */
  let allChangedAt = facts.applied;

  let written = stored?.value;

  /** Most renewals change nothing, and cost no row. */
  const save = (step: Partial<Facts>) => {
    Object.assign(facts, step);
    const value = JSON.stringify(facts);
    if (value === written) return;
    sql.exec('INSERT OR REPLACE INTO facts (only, value) VALUES (1, ?)', value);
    written = value;
  };

  const read = (kind: Kind, ref: string): unknown => {
    const [row] = sql.exec<{ value: string }>(
      'SELECT value FROM copies WHERE kind = ? AND ref = ?',
      kind,
      ref,
    );
    return row ? JSON.parse(row.value) : null;
  };

  const dropAll = (revision: number) => {
    sql.exec('DELETE FROM copies');
    keys = createLru(ROWS_IN_MEMORY);
    licenses = createLru(ROWS_IN_MEMORY);
    products = new Set();
    changedAt.clear();
    allChangedAt = revision;
  };

  const noteChange = (kind: Kind, ref: string, revision: number) => {
    if (changedAt.size >= CHANGES_IN_MEMORY) {
      changedAt.clear();
      allChangedAt = revision;
    }
    changedAt.set(`${kind}:${ref}`, revision);
  };

  const dropProduct = (code: string, revision: number) => {
    sql.exec('DELETE FROM copies WHERE product = ?', code);
    licenses = createLru(ROWS_IN_MEMORY);
    products.delete(code);
    allChangedAt = revision;
  };

  /** Drops a machine's seat and the license's count of seats. */
  const dropSeat = (ref: string, revision: number) => {
    const [licenseKey = ''] = ref.split(' ');
    for (const changed of [ref, seatRef(licenseKey, '')]) {
      // The branch may have copied the seat after the change, which it learns of later.
      sql.exec("DELETE FROM copies WHERE kind = 'seat' AND ref = ? AND as_of < ?", changed, revision);
      noteChange('seat', changed, revision);
    }
  };

  const dropKey = (id: string, revision: number) => {
    sql.exec("DELETE FROM copies WHERE kind = 'key' AND ref = ?", id);
    keys.delete(id);
    noteChange('key', id, revision);
  };

  /** Drops all machines of a license. Home may be sending some right now. */
  const dropMachines = (licenseKey: string, revision: number) => {
    sql.exec(
      "DELETE FROM copies WHERE kind = 'seat' AND ref >= ? AND ref < ?",
      seatRef(licenseKey, ''),
      endOfSeats(licenseKey),
    );
    noteChange('license', licenseKey, revision);
  };

  /** A license's seats are only copied together with it: while it has other terms, no change of them is logged. */
  const dropLicense = (licenseKey: string, revision: number) => {
    sql.exec("DELETE FROM copies WHERE kind = 'license' AND ref = ?", licenseKey);
    dropMachines(licenseKey, revision);
    licenses.delete(licenseKey);
  };

  /** How a change drops rows. That of an account drops none, because each update has the account. */
  const drops: Partial<Record<ChangedRef['kind'], (ref: string, revision: number) => void>> = {
    product: dropProduct,
    seat: dropSeat,
    machines: dropMachines,
    key: dropKey,
    license: dropLicense,
    erased: dropLicense,
  };

  /** A row that the branch has already isn't written. A change of its license overtakes a seat, too. */
  const keep = (kind: Kind, ref: string, asOf: number, value: unknown, license: CopiedLicense | null) => {
    const changes = [
      changedAt.get(`${kind}:${ref}`),
      license && changedAt.get(`license:${license.licenseKey}`),
    ];
    if (!mayKeep(asOf, Math.max(allChangedAt, ...changes.map((revision) => revision ?? 0)))) return;
    sql.exec(
      `INSERT INTO copies (kind, ref, as_of, product, value) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET as_of = excluded.as_of, product = excluded.product, value = excluded.value
       WHERE excluded.as_of >= as_of AND excluded.value <> value`,
      kind,
      ref,
      asOf,
      license?.product ?? null,
      JSON.stringify(value),
    );
    if (kind === 'key') keys.delete(ref);
    if (kind === 'license') licenses.delete(ref);
  };

  const findLicense = (licenseKey: string): KeptLicense | null => {
    const cached = licenses.get(licenseKey);
    if (cached) return cached;
    const found = read('license', licenseKey) as KeptLicense | null;
    if (!found) return null;
    licenses.set(licenseKey, found);
    if (found.product !== null && found.isProduct) products.add(found.product);
    return found;
  };

  return {
    facts: facts as Readonly<Facts>,
    save,
    account: () => facts.account,
    findLicense,
    isProduct: (code: string) => products.has(code),

    /** Returns the license's terms, or null if neither it nor its product has terms. */
    termsOf: ({ licenseKey }: CopiedLicense): Terms | null => findLicense(licenseKey)?.resolved ?? null,

    /** Returns the machine, or null if the branch has no copy of it. */
    machine: ({ licenseKey }: CopiedLicense, fingerprint: string): Machine | null =>
      read('seat', seatRef(licenseKey, fingerprint)) as Machine | null,

    /** Returns how many seats of the license are used, or null if the branch doesn't know. */
    usedSeats: ({ licenseKey }: CopiedLicense, nowMs: number): number | null => {
      const count = read('seat', seatRef(licenseKey, '')) as Seats | null;
      return count && nowMs < count.untilMs ? count.used : null;
    },

    key: (id: string): CopiedKey | null => {
      const cached = keys.get(id);
      if (cached) return cached;
      const found = read('key', id) as CopiedKey | null;
      if (found) keys.set(id, found);
      return found;
    },

    /** Drops all rows, which home sends again. */
    dropAll: () => dropAll(facts.applied),

    /** Forgets everything but the opening. */
    forget: (opening: number, state: Facts['state'], lastCallMs: number) => {
      dropAll(0);
      save({ opening, state, applied: 0, account: null, lastCallMs });
    },

    /**
     * Keeps the rows that home has sent with its answer, unless a change has overtaken them. `opening` is that of the call: home
     * numbers no changes while no branch is open.
     */
    keep: ({ asOf, key, isProduct, known }: NonNullable<Forwarded['row']>, opening: number) => {
      if (facts.state !== 'open' || facts.opening !== opening) return;
      if (sql.databaseSize > maxBytes) dropAll(facts.applied);
      keep('key', key.id, asOf, key, null);
      if (!known) return;
      const { license, terms: resolved, machine, count } = known;
      const { licenseKey } = license;
      keep('license', licenseKey, asOf, { ...license, isProduct, resolved } satisfies KeptLicense, license);
      if (count) keep('seat', seatRef(licenseKey, ''), asOf, count, license);
      if (machine) keep('seat', seatRef(licenseKey, machine.fingerprint), asOf, machine, license);
    },

    /** Applies home's changes, as part of the current transaction. Returns whether the update isn't outdated. */
    apply: ({ feed, account }: BranchUpdate, lastCallMs: number): boolean => {
      if (!feed || feed.through < facts.applied) return false;
      const step = feedStep(facts.applied, feed);
      // There is a gap before the feed.
      if (step === 'ignore' && feed.through > facts.applied) return false;
      if (step === 'reset') dropAll(feed.through);
      if (step === 'apply') for (const { kind, ref } of feed.rows) drops[kind]?.(ref, feed.through);
      save({ applied: feed.through, account, lastCallMs });
      return true;
    },
  };
};

export type BranchCopy = ReturnType<typeof openBranchCopy>;
