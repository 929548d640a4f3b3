import type { Limits } from '../../shared/rules/plans.ts';
import { hasTerms, resolveTerms, type Terms } from '../../shared/rules/terms.ts';
import type { CopiedLicense, FeedPosition, Rows, StoredAccount, TracedLicense } from '../rules/rows.ts';
import { openCopyCache } from './copy-cache.ts';
import { openFacts } from './copy-facts.ts';
import { COPY_VERSION, openCopyTables } from './copy-tables.ts';
import * as lost from './lost-licenses.ts';
import { LAST_KEY, openOrphans, ORPHAN_MS } from './orphans.ts';
import { afterRestore, earliest, newReload, noProgress, type Progress, withReplaced } from './progress.ts';

// The gate's copy of its account's rows in D1. Only the feed overwrites rows. The background load and read-throughs
// add missing rows and never replace rows that the feed has written.

/** The fact of how many bytes of machines D1 was told of. */
const REPORTED = 'reported_machine_bytes';

/** Deleted keys are pruned once for this many, because finding the oldest ones reads all keys. */
const PRUNE_INTERVAL = 100;

/** After an epoch that ends like this, D1 is right about what the gates know better. */
const EXACT = '-exact';

/** `own` isn't stored, so that a deployment can change it. */
export const openCopy = (sql: SqlStorage, epoch: string, own: Limits | null = null) => {
  const facts = openFacts(sql);
  const tables = openCopyTables(sql);
  const orphans = openOrphans(sql);
  const cache = openCopyCache(tables);
  /** Since deleted keys were pruned. Pruning is due after each start. */
  let deletions = PRUNE_INTERVAL;

  const withOwn = (row: StoredAccount | null) => row && { ...row, own };
  let account = withOwn(facts.read('account') as StoredAccount | null);
  let progress = facts.read('progress') as Progress | null;
  const isOfOtherRelease = progress !== null && progress.version !== COPY_VERSION;
  if (isOfOtherRelease && !(progress?.complete && tables.refit())) {
    tables.drop('');
    tables.drop('_next');
    facts.clear();
    orphans.forget();
    [progress, account] = [null, null];
  }
  let known: Readonly<Progress> = progress ?? noProgress(epoch);
  tables.create('');
  if (known.reload) tables.create('_next');
  let reportedBytes = facts.read(REPORTED) as number | null;

  const advance = (step: Partial<Progress>) => {
    // A new value, so that a read of the feed is judged by the progress with which it began.
    known = { ...known, ...step };
    facts.write('progress', known);
  };

  const setAccount = (row: StoredAccount | undefined) => {
    if (!row) return;
    account = withOwn(row);
    facts.write('account', row);
  };

  const withoutGone = (rows: Rows, isFeed: boolean): Rows => ({
    ...rows,
    licenses: orphans.withoutGone(rows.licenses, isFeed, Date.now()),
  });

  const write = (rows: Rows, overwrites: boolean) => {
    if (overwrites || !account) setAccount(rows.account);
    tables.write(rows, '', overwrites);
    cache.forget(rows);
  };

  const isLoading = () => !known.complete || !!known.reload;

  /** Starts loading everything again: beside a complete copy, in the place of an incomplete one. */
  const startReload = (isExact = false) => {
    const set = known.complete ? '_next' : '';
    tables.drop(set);
    tables.create(set);
    // D1 may be that of an earlier time.
    reportedBytes = null;
    facts.remove(REPORTED);
    if (known.complete) return advance({ reload: newReload(isExact, Date.now(), Math.random()) });
    cache.clear();
    if (isExact) orphans.clear();
    else orphans.forget();
    account = null;
    facts.remove('account');
    advance({ loadedThrough: '' });
  };

  const finishReload = () => {
    tables.swap();
    tables.loadFinished();
    cache.clear();
    advance({ reload: null, replaced: undefined, isRestored: undefined });
  };

  /** Keeps what D1 has lost, a page of licenses at a time. Returns the ids of some that have ended, until none has machines. */
  const compare = (): string[] => {
    const reload = known.reload ?? { loadedThrough: '' };
    const after = reload.comparedThrough ?? '';
    if (reload.isExact) orphans.clear();
    const through = reload.isExact ? null : orphans.compare(after, Date.now());
    const isMissing = reload.isAnyMissing === true || lost.isAnyMissing(sql, after, through ?? LAST_KEY);
    const isAnyEnded = isMissing || !!known.replaced || !!known.isRestored;
    const ended = through === null && isAnyEnded ? lost.missingInNext(sql, known, reload.goneIds ?? []) : [];
    if (through === null && ended.length < lost.MAX_ENDED) finishReload();
    else advance({ reload: { ...reload, comparedThrough: through ?? LAST_KEY, isAnyMissing: isMissing } });
    return ended;
  };

  if (known.epoch !== epoch || (progress && isOfOtherRelease)) {
    const isExact = epoch.endsWith(EXACT) && (known.epoch !== epoch || known.reload?.isExact === true);
    advance({ epoch, version: COPY_VERSION });
    startReload(isExact);
  }

  return {
    progress: () => known,
    account: () => account,

    /** How many bytes of machines D1 was told of since this copy was loaded, or null. */
    reportedBytes: () => reportedBytes,
    noteReport: (bytes: number) => {
      reportedBytes = bytes;
      facts.write(REPORTED, bytes);
    },

    /** The last license that the current load has copied, or null if there is nothing to load. */
    loadPosition: (): string | null => {
      if (!known.complete) return known.loadedThrough;
      return known.reload ? known.reload.loadedThrough : null;
    },

    key: cache.key,
    /** Returns the license with exactly this key. */
    license: cache.license,
    findLicense: cache.findLicense,

    /** Whether an incomplete copy has a license and the terms of its product. */
    knows: (licenseKey: string): boolean => {
      const found = cache.findLicense(licenseKey);
      return found !== null && (found.product === null || cache.productTerms(found.product) !== undefined);
    },

    isProduct: (code: string): boolean => !!cache.productTerms(code),

    /** Returns the license's terms, or null if neither it nor its product has terms. */
    termsOf: ({ product, terms }: CopiedLicense): Terms | null => {
      const inherited = (product !== null && cache.productTerms(product)) || {};
      return hasTerms(inherited, terms) ? resolveTerms(inherited, terms) : null;
    },

    /** Applies rows from the feed, which overwrite the copy. */
    apply: (read: Rows, position: FeedPosition) => {
      const rows = withoutGone(read, true);
      const before = lost.replacedBy(sql, rows.licenses);
      orphans.noteGone(rows.erasedKeys, Date.now());
      orphans.adopt(rows);
      for (const set of known.reload ? (['', '_next'] as const) : ([''] as const)) {
        tables.erase(rows.erasedKeys, set);
        if (set === '') write(rows, true);
        else tables.write(rows, set, true);
      }
      if (!isLoading() && rows.erasedKeys.length + rows.products.length > 0) tables.loadFinished();
      const replaced = lost.withoutKey(sql, before).filter((id) => !rows.deletedLicenses.includes(id));
      advance({ ...position, replaced: withReplaced(known.replaced, replaced, Date.now() + ORPHAN_MS) });
    },

    /** Drops the oldest deleted keys now and then, after a deletion, and returns their ids. A load needs them: see `CopiedKey`. */
    pruneDeletedKeys: (): string[] => {
      deletions++;
      if (isLoading() || deletions < PRUNE_INTERVAL) return [];
      deletions = 0;
      return tables.pruneDeletedKeys();
    },

    /** Adds rows from a read-through where the copy has none. A copy that is complete by now has them already. */
    adopt: (rows: Rows) => {
      if (!known.complete) write(withoutGone(rows, false), false);
    },

    /**
     * Adds a page of the background load, which was read when the feed had been applied through `seqWhenRead`. After
     * the last page, a row missing here doesn't exist in D1. Returns the ids of the licenses that have ended.
     */
    adoptPage: (read: Rows, isLast: boolean, seqWhenRead: number): string[] => {
      const through = read.licenses.at(-1)?.id;
      const rows = known.reload?.isExact ? read : withoutGone(read, false);
      if (!known.reload) {
        write(rows, false);
        if (isLast) tables.loadFinished();
        const ended = isLast && known.isRestored ? lost.withMachinesAlone(sql) : [];
        // If there are more, the last page is read again.
        const isDone = isLast && ended.length < lost.MAX_ENDED;
        const loadedThrough = through ?? known.loadedThrough;
        advance({ loadedThrough, complete: isDone, ...(isDone && { isRestored: undefined }) });
        return ended;
      }
      tables.write(rows, '_next', false);
      if (seqWhenRead === known.appliedSeq) setAccount(rows.account);
      const { loadedThrough, goneIds = [] } = known.reload;
      const gone = read.licenses.filter((license) => !rows.licenses.includes(license)).map(({ id }) => id);
      advance({
        reload: { ...known.reload, loadedThrough: through ?? loadedThrough, goneIds: [...goneIds, ...gone] },
      });
      return isLast ? compare() : [];
    },

    /** Whether a reload has read everything, and is being compared. */
    isComparing: () => known.reload?.comparedThrough !== undefined,
    compare,

    orphans: { total: orphans.total, list: orphans.list },
    /** When to look at D1 once more for what it has lost, or null. */
    lostDueMs: (): number | null => earliest(orphans.dueMs(), known.replaced?.dueMs ?? null),
    /** Takes erased customers out of what D1 has lost. Returns the licenses that have named one. */
    eraseOrphans: (emails: string[]): TracedLicense[] => {
      const named = lost.eraseFromOrphans(sql, emails, known.reload !== null, Date.now());
      if (named.length > 0) cache.clear();
      return named;
    },
    /** Loads a complete copy again. `isExact` takes D1 to be right about everything. */
    reload: (isExact: boolean) => {
      if (known.complete) startReload(isExact);
    },
    /** D1 was restored with the whole service: loads any copy again, at once. */
    reloadRestored: () => {
      advance({ isRestored: true });
      startReload();
    },

    /** The account has moved to another database, whose feed has begun here: everything before is applied. */
    continueAt: (position: FeedPosition) => advance(position),

    /** D1 was restored to an earlier time: reads what its feed has since then, and loads the copy again. */
    restart: () => {
      advance(afterRestore(known));
      startReload(known.reload?.isExact);
    },
  };
};

export type Copy = ReturnType<typeof openCopy>;
