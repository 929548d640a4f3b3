import type { DatabaseMoveState } from '../../databases/move-state.ts';
import { gateDatabaseOf } from '../../db/client.ts';
import { coalesce } from '../../shared/objects/coalesce.ts';
import type { ObjectContext } from '../../shared/objects/context.ts';
import type { PresentedKey } from '../../shared/rules/api-keys.ts';
import { DAY_MS } from '../../shared/rules/dates.ts';
import type { PlanTerms } from '../../shared/rules/plans.ts';
import { RETENTION_DAYS } from '../../shared/rules/webhooks.ts';
import type { WebhookEvent } from '../../shared/text/events.ts';
import { idTimeMs } from '../../shared/text/ids.ts';
import { logError } from '../../shared/text/log.ts';
import { type ListPosition, readPage, readThrough } from '../feed/load.ts';
import { type FeedRead, readFeed } from '../feed/read.ts';
import type { AdmissionControl } from '../object/admission.ts';
import type { ChangedRow } from '../rules/messages.ts';
import type { Orphans, Rows } from '../rules/rows.ts';
import { limitAt } from '../rules/usage.ts';
import type { HomeBranches } from './branches.ts';
import type { Copy } from './copy.ts';
import type { Progress } from './progress.ts';
import type { HomeStore } from './store.ts';
import type { HomeUsage } from './usage.ts';

/** A reload runs beside a copy that answers verifies, so it can take its time. */
const RELOAD_PAGE_MS = 1_000;

const LISTS_BEGIN: ListPosition = { key: '', product: '' };

/**
 * When to load the next page. During a reload, the current copy is complete and answers meanwhile. After a restore of the service,
 * it may be of a D1 of which only some tables were there.
 */
const nextPageMs = (
  { complete, reload, isRestored }: Readonly<Progress>,
  isFirst: boolean,
  nowMs: number,
): number => {
  if (!complete || isRestored) return nowMs;
  return isFirst ? (reload?.startsMs ?? nowMs) : nowMs + RELOAD_PAGE_MS;
};

/** Whether the outbox recognizes the event if it has had it before. It forgets older ones. */
const isRecognized = ({ id }: WebhookEvent) => idTimeMs(id) > Date.now() - RETENTION_DAYS * DAY_MS;

/** Returns what rows from the feed will change. Call it before the copy applies them. */
const changesOf = (copy: Copy, { account, keys, licenses, products, erasedKeys }: Rows): ChangedRow[] => {
  const { complete } = copy.progress();
  const known = copy.account();
  const isChanged = account && JSON.stringify({ ...account, own: known?.own }) !== JSON.stringify(known);
  return [
    ...(isChanged ? [{ kind: 'account', ref: '', isNew: false } as const] : []),
    ...keys.map(({ id }) => ({ kind: 'key', ref: id, isNew: complete && !copy.key(id) }) as const),
    ...licenses.map(
      ({ licenseKey }) =>
        ({ kind: 'license', ref: licenseKey, isNew: complete && !copy.license(licenseKey) }) as const,
    ),
    ...products.map(({ code }) => ({ kind: 'product', ref: code, isNew: false }) as const),
    ...erasedKeys.map((licenseKey) => ({ kind: 'erased', ref: licenseKey, isNew: false }) as const),
  ];
};

/** Applies what was read from the feed, and keeps the copy loading until it is complete. */
export const openCatchUp = (
  { ctx, env, accountId, journal, alarm }: ObjectContext,
  { copy, outgoing, ledger, machines, announced }: HomeStore,
  usage: HomeUsage,
  branches: HomeBranches,
  admission: Pick<AdmissionControl, 'heldRefusal'>,
  moveState: Pick<DatabaseMoveState, 'hasNoFeed'>,
) => {
  // Opened on use, because a verify needs no database.
  const db = () => gateDatabaseOf(env, accountId);
  let pageDueMs: number | null = null;
  /** How far a load has come before its first license. It is not stored: after a restart, keys and products are read again. */
  let lists: ListPosition | null = null;

  /** Plans the next page of a load, after a page was loaded or a load was started. */
  const planPage = () => {
    const position = copy.loadPosition();
    const isFirst = position === '' && lists === null;
    pageDueMs = position === null ? null : nextPageMs(copy.progress(), isFirst, Date.now());
  };
  planPage();

  /** Carries the usage over on an upgrade, because the new plan starts its own period. */
  const carryUsage = (before: PlanTerms, after: PlanTerms) => {
    const nowMs = Date.now();
    const [from, to] = [limitAt(before, nowMs), limitAt(after, nowMs)];
    if (to.apiLimit <= from.apiLimit) return;
    const [{ startMs: fromMs }, { startMs: toMs }] = [from.period, to.period];
    const inBranches = { exposure: usage.exposureIn(fromMs), others: branches.counters() };
    if (ledger.carry(fromMs, toMs, nowMs, inBranches)) announced.carry(fromMs, toMs);
  };

  /** Changes the copy, and the usage with the account's plan. */
  const changeCopy = (change: () => void) => {
    const before = copy.account();
    change();
    const after = copy.account();
    if (before && after) carryUsage(before, after);
  };

  /** Applies a read, as part of the current transaction. Returns whether the feed has to be read again. */
  const apply = (read: FeedRead): boolean => {
    const { continues, after, position, rows, events, more } = read;
    const { appliedSeq, appliedAt, movedAt, knownUntil } = copy.progress();
    // Read in the database that the account has left, or before the restart that a restore has caused.
    if (read.movedAt !== movedAt || read.knownUntil !== knownUntil) return true;
    // Read before the copy was dropped or restarted: it lacks the rows up to `after`.
    if (after > appliedSeq) return true;
    if (!continues && after === appliedSeq) {
      copy.restart();
      lists = null;
      branches.forgetLog();
      planPage();
      return true;
    }
    // A read that overtook this one has applied its rows already, and newer states of them.
    if (!position || position.appliedSeq <= appliedSeq) return more;
    changeCopy(() => {
      if (branches.isAnyOpen()) branches.log(changesOf(copy, rows));
      copy.apply(rows, position);
      // A gate that begins with the feed of a restored service doesn't know which events it has told of.
      outgoing.insert(appliedAt === null ? events.filter(isRecognized) : events);
      const refs = [...rows.keys, ...rows.licenses].map(({ id }) => id);
      usage.countReserved(announced.takeApplied(new Set([...refs, ...rows.deletedLicenses])));
      const deletedIds = rows.keys.filter(({ deleted }) => deleted).map(({ id }) => id);
      machines.eraseLicenses(rows.deletedLicenses);
      if (deletedIds.length > 0) ledger.forgetKeys([...deletedIds, ...copy.pruneDeletedKeys()]);
    });
    return more;
  };

  const addPage = (add: () => string[]) => {
    changeCopy(() => machines.eraseLicenses(add()));
    if (copy.loadPosition() === null) branches.forgetLog();
    planPage();
  };

  /** Adds the next page of a load to the copy. */
  const loadPage = async () => {
    const loadedThrough = copy.loadPosition();
    if (loadedThrough === null) return;
    if (copy.isComparing()) return journal.change(() => addPage(copy.compare));
    const { appliedSeq } = copy.progress();
    const before = lists;
    const page = await readPage(db(), accountId, loadedThrough, before ?? LISTS_BEGIN);
    // A restart has begun another load meanwhile.
    if (copy.loadPosition() !== loadedThrough || lists !== before) return;
    lists = page.lists;
    journal.change(() => addPage(() => copy.adoptPage(page.rows, page.last, appliedSeq)));
  };

  /** Applies the whole feed, and loads the next page of an incomplete copy. */
  const pull = coalesce(async () => {
    for (let readsAgain = !moveState.hasNoFeed(); readsAgain;) {
      const read = await readFeed(db(), accountId, copy.progress());
      readsAgain = journal.change(() => apply(read));
    }
    // The next read deletes the applied rows in D1, so the changes must be on disk by then.
    await ctx.storage.sync();
    if (!copy.progress().complete) await loadPage();
  });

  alarm.add({
    failure: 'gate_alarm_failed',
    dueMs: (nowMs) => {
      // Without a feed, no change can be found.
      const dueMs = moveState.hasNoFeed() ? null : announced.dueMs(nowMs);
      return copy.progress().complete ? dueMs : Math.min(dueMs ?? Infinity, pageDueMs ?? nowMs);
    },
    run: async (nowMs) => {
      if (announced.isEmpty() && copy.progress().complete) return;
      await pull();
      if (!moveState.hasNoFeed()) journal.change(() => announced.dropUncommitted(nowMs));
    },
  });
  alarm.add({
    failure: 'gate_alarm_failed',
    dueMs: () => (copy.progress().complete ? pageDueMs : null),
    run: async (nowMs) => {
      // An incomplete copy gets its pages with each pull.
      if (copy.progress().complete && pageDueMs !== null && pageDueMs <= nowMs) await loadPage();
    },
  });

  const reload = (start: () => void) =>
    journal.change(() => {
      start();
      lists = null;
      planPage();
    });

  // The reload gives up the orphans whose time is over, unless D1 has them again.
  const orphansDueMs = () => (copy.loadPosition() === null ? copy.lostDueMs() : null);
  alarm.add({
    failure: 'gate_alarm_failed',
    dueMs: orphansDueMs,
    run: async (nowMs) => {
      if ((orphansDueMs() ?? Infinity) <= nowMs) reload(() => copy.reload(false));
    },
  });

  return {
    apply,
    pull,

    /** Lists what D1 has lost. If D1 is right about it, this begins to load the copy again. */
    orphans: (isD1Right: boolean): Orphans => {
      const found = copy.orphans.list();
      if (isD1Right) reload(() => copy.reload(true));
      return found;
    },

    /** D1 was restored with the whole service. A call may have let the copy load when only some tables were there. */
    reload: () => reload(copy.reloadRestored),

    /**
     * While the copy is incomplete, reads the key and the license that a call needs from D1, unless the copy has them. Returns
     * false if D1 can't be reached.
     */
    ensureKnown: async (presented: PresentedKey | null, licenseKey: string | null): Promise<boolean> => {
      if (copy.progress().complete) return true;
      if (presented && admission.heldRefusal(presented, Date.now())) return true;
      const hasLicense = licenseKey === null || copy.knows(licenseKey);
      if (hasLicense && copy.account() && (!presented || copy.key(presented.keyId))) return true;
      try {
        const rows = await readThrough(db(), accountId, presented?.keyId ?? '', licenseKey);
        journal.change(() => copy.adopt(rows));
        return true;
      } catch (error) {
        logError('gate_read_through_failed', error, { account_id: accountId });
        return false;
      }
    },
  };
};

export type CatchUp = ReturnType<typeof openCatchUp>;
