import { createLru } from '../../shared/memory/lru.ts';
import { candidateKeys } from '../../shared/rules/license-key.ts';
import { hasTerms, type ProductTerms, resolveTerms, type Terms } from '../../shared/rules/terms.ts';
import type { CopiedAccount, CopiedKey, CopiedLicense, FeedPosition, Rows } from '../rules/rows.ts';
import { COPY_VERSION, openCopyTables } from './copy-tables.ts';

// The gate's copy of its account's rows in D1. Only the feed overwrites rows. The background load and read-throughs
// add missing rows and never replace rows that the feed has written.

const FACTS = 'CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID';

/** Minimum sizes of the in-memory caches; each may grow to twice its size (see `createLru`). */
const KEYS_IN_MEMORY = 5_000;
const LICENSES_IN_MEMORY = 5_000;

/** The fact of how many bytes of machines D1 was told of. */
const REPORTED = 'reported_machine_bytes';

/** Deleted keys are pruned once for this many, because finding the oldest ones reads all keys. */
const PRUNE_INTERVAL = 100;

/** State of the copy. `loadedThrough` is the last license that the background load has copied. */
export interface Progress extends FeedPosition {
  version: number;
  epoch: string;
  loadedThrough: string;
  complete: boolean;
  /** A reload beside the current copy, which goes on answering. */
  reload: { loadedThrough: string } | null;
}

export const openCopy = (sql: SqlStorage, epoch: string) => {
  sql.exec(FACTS);
  const tables = openCopyTables(sql);
  let keysInMemory = createLru<CopiedKey>(KEYS_IN_MEMORY);
  let licensesInMemory = createLru<CopiedLicense>(LICENSES_IN_MEMORY);
  let products: Map<string, ProductTerms | null> | null = null;
  /** Since deleted keys were pruned. Pruning is due after each start. */
  let deletions = PRUNE_INTERVAL;

  const readFact = (name: string): unknown => {
    const [row] = sql.exec<{ value: string }>('SELECT value FROM facts WHERE name = ?', name);
    return row ? JSON.parse(row.value) : null;
  };
  const writeFact = (name: string, value: unknown) =>
    sql.exec(
      'INSERT INTO facts (name, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value',
      name,
      JSON.stringify(value),
    );

  let account = readFact('account') as CopiedAccount | null;
  let progress = readFact('progress') as Progress | null;
  const isOfOtherRelease = progress !== null && progress.version !== COPY_VERSION;
  if (isOfOtherRelease && !(progress?.complete && tables.refit())) {
    tables.drop('');
    tables.drop('_next');
    sql.exec('DELETE FROM facts');
    [progress, account] = [null, null];
  }
  const known: Progress = progress ?? {
    version: COPY_VERSION,
    epoch,
    loadedThrough: '',
    complete: false,
    appliedSeq: 0,
    appliedAt: null,
    reload: null,
  };
  tables.create('');
  if (known.reload) tables.create('_next');

  let reportedBytes = readFact(REPORTED) as number | null;

  const advance = (step: Partial<Progress>) => {
    Object.assign(known, step);
    writeFact('progress', known);
  };

  const setAccount = (row: CopiedAccount | undefined) => {
    if (!row) return;
    account = row;
    writeFact('account', account);
  };

  const write = (rows: Rows, overwrites: boolean) => {
    if (overwrites || !account) setAccount(rows.account);
    tables.write(rows, '', overwrites);
    for (const { id } of rows.keys) keysInMemory.delete(id);
    for (const { licenseKey } of rows.licenses) licensesInMemory.delete(licenseKey);
    for (const licenseKey of rows.erasedKeys) licensesInMemory.delete(licenseKey);
    if (rows.products.length > 0) products = null;
  };

  const clearMemory = () => {
    keysInMemory = createLru<CopiedKey>(KEYS_IN_MEMORY);
    licensesInMemory = createLru<CopiedLicense>(LICENSES_IN_MEMORY);
    products = null;
  };

  const isLoading = () => !known.complete || !!known.reload;

  /** Starts loading everything again: beside a complete copy, in the place of an incomplete one. */
  const startReload = () => {
    const set = known.complete ? '_next' : '';
    tables.drop(set);
    tables.create(set);
    // D1 may be that of an earlier time.
    reportedBytes = null;
    sql.exec(`DELETE FROM facts WHERE name = '${REPORTED}'`);
    if (known.complete) return advance({ reload: { loadedThrough: '' } });
    clearMemory();
    account = null;
    sql.exec("DELETE FROM facts WHERE name = 'account'");
    advance({ loadedThrough: '' });
  };

  const finishReload = () => {
    tables.swap();
    tables.loadFinished();
    clearMemory();
    advance({ reload: null });
  };

  if (known.epoch !== epoch || (progress && isOfOtherRelease)) {
    advance({ epoch, version: COPY_VERSION });
    startReload();
  }

  const license = (licenseKey: string): CopiedLicense | null => {
    const cached = licensesInMemory.get(licenseKey);
    if (cached) return cached;
    const found = tables.readLicense(licenseKey);
    if (found) licensesInMemory.set(licenseKey, found);
    return found;
  };

  const productTerms = (code: string): ProductTerms | null | undefined => {
    products ??= tables.readProducts();
    return products.get(code);
  };

  /** Looks a license up by its key as presented, then by the generated key that was probably meant. */
  const findLicense = (presented: string): CopiedLicense | null => {
    const cached = licensesInMemory.get(presented);
    if (cached) return cached;
    for (const licenseKey of candidateKeys(presented)) {
      const found = license(licenseKey);
      if (found) return found;
    }
    return null;
  };

  return {
    progress: (): Readonly<Progress> => known,
    account: () => account,

    /** How many bytes of machines D1 was told of since this copy was loaded, or null. */
    reportedBytes: () => reportedBytes,
    noteReport: (bytes: number) => {
      reportedBytes = bytes;
      writeFact(REPORTED, bytes);
    },

    /** The last license that the current load has copied, or null if there is nothing to load. */
    loadPosition: (): string | null => {
      if (!known.complete) return known.loadedThrough;
      return known.reload ? known.reload.loadedThrough : null;
    },

    key: (id: string): CopiedKey | null => {
      const cached = keysInMemory.get(id);
      if (cached) return cached;
      const found = tables.readKey(id);
      if (found) keysInMemory.set(id, found);
      return found;
    },

    /** Returns the license with exactly this key. */
    license,

    findLicense,

    /** Whether an incomplete copy has a license and the terms of its product. */
    knows: (licenseKey: string): boolean => {
      const found = findLicense(licenseKey);
      return found !== null && (found.product === null || productTerms(found.product) !== undefined);
    },

    isProduct: (code: string): boolean => !!productTerms(code),

    /** The license's terms, or null if neither the license nor its product has any. */
    termsOf: ({ product, terms }: CopiedLicense): Terms | null => {
      const inherited = (product !== null && productTerms(product)) || {};
      return hasTerms(inherited, terms) ? resolveTerms(inherited, terms) : null;
    },

    /** Applies rows from the feed, which overwrite the copy. */
    apply: (rows: Rows, position: FeedPosition) => {
      for (const set of known.reload ? (['', '_next'] as const) : ([''] as const)) {
        tables.erase(rows.erasedKeys, set);
        if (set === '') write(rows, true);
        else tables.write(rows, set, true);
      }
      if (!isLoading() && rows.erasedKeys.length + rows.products.length > 0) tables.loadFinished();
      advance(position);
    },

    /**
     * Drops the oldest deleted keys now and then, and returns their ids. Call it after each deletion. During a load they are
     * needed, see `CopiedKey`.
     */
    pruneDeletedKeys: (): string[] => {
      deletions++;
      if (isLoading() || deletions < PRUNE_INTERVAL) return [];
      deletions = 0;
      return tables.pruneDeletedKeys();
    },

    /** Adds rows from a read-through where the copy has none. A copy that is complete by now has them already. */
    adopt: (rows: Rows) => {
      if (!known.complete) write(rows, false);
    },

    /**
     * Adds a page of the background load, which was read when the feed had been applied through `seqWhenRead`. After
     * the last page, a row missing here doesn't exist in D1.
     */
    adoptPage: (rows: Rows, isLast: boolean, seqWhenRead: number) => {
      const through = rows.licenses.at(-1)?.id;
      if (!known.reload) {
        write(rows, false);
        if (isLast) tables.loadFinished();
        return advance({ loadedThrough: through ?? known.loadedThrough, complete: isLast });
      }
      tables.write(rows, '_next', false);
      if (seqWhenRead === known.appliedSeq) setAccount(rows.account);
      if (isLast) return finishReload();
      advance({ reload: { loadedThrough: through ?? known.reload.loadedThrough } });
    },

    /** D1 was restored to an earlier time: reads its feed from the start and loads the copy again. */
    restart: () => {
      advance({ appliedSeq: 0, appliedAt: null });
      startReload();
    },
  };
};

export type Copy = ReturnType<typeof openCopy>;
