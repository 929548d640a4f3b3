import { armAlarm } from '../../shared/objects/arm-alarm.ts';
import { type Announcing, openAnnounced } from './announced.ts';
import { backoffMs, type GateWork, LAST_CHECK_MS, nextAlarmMs, nextPageMs } from '../rules/alarm-time.ts';
import type { Copy } from './copy.ts';
import type { Outgoing } from '../object/outgoing.ts';
import type { Receipt } from '../rules/replies.ts';

/** Decides when the gate's alarm has to do something that no call waits for: check D1, load a page, forward events. */
export const openUpkeep = (storage: DurableObjectStorage, copy: Copy, outgoing: Outgoing) => {
  const announced = openAnnounced(storage.kv);
  let loadDueMs: number | null = null;
  let failures = 0;
  let notBeforeMs = 0;
  let hasAlarmForEvents = false;

  const planLoad = () => {
    const position = copy.loadPosition();
    const isReload = copy.progress().complete;
    loadDueMs = position === null ? null : nextPageMs(isReload, position === '', Date.now(), Math.random());
  };
  planLoad();

  /** Sets the alarm for the next work, but never later than it is set already. */
  const arm = async (): Promise<void> => {
    const work: GateWork = {
      announcedAtMs: announced.timesMs(),
      hasEvents: !outgoing.isEmpty(),
      loadDueMs,
      notBeforeMs,
    };
    const dueMs = nextAlarmMs(work, Date.now());
    if (dueMs !== null) await armAlarm(storage, dueMs);
  };

  return {
    arm,

    /** Notes a change that is about to be committed. Arm the alarm next, which finds the change if its request dies. */
    announce: (change: Announcing) => announced.add(change),

    isAnnounced: announced.has,
    isFull: announced.isFull,
    receiptOf: announced.receiptOf,
    settle: announced.settle,

    /** The announced change was not committed. Returns the receipts to refund. */
    abandon: (token: string): Receipt[] => announced.remove((change) => change.token === token),

    /** These rows have come from the feed: the changes that announced them were committed. */
    noteApplied: (ids: ReadonlySet<string>) => announced.dropReceipts(({ ref }) => ids.has(ref)),

    needsPull: () => announced.timesMs().length > 0 || !copy.progress().complete,

    /** Whether the next page of a reload is due. An incomplete copy gets its pages with each pull. */
    isReloadDue: (nowMs: number) => copy.progress().complete && loadDueMs !== null && loadDueMs <= nowMs,

    /** Plans the next page of a load, after a page was loaded or a load was started. */
    planLoad,

    /** Sets the alarm for events that wait to be forwarded, unless it is set for them already. */
    armForEvents: async () => {
      if (hasAlarmForEvents) return;
      hasAlarmForEvents = true;
      await arm();
    },

    alarmStarted: () => {
      hasAlarmForEvents = false;
    },

    /**
     * Returns the receipts of changes that were never committed: when D1 was read after `beforeReadMs`, they were older
     * than any D1 query can take.
     */
    takeUncommitted: (beforeReadMs: number): Receipt[] =>
      announced.remove(({ atMs }) => beforeReadMs >= atMs + LAST_CHECK_MS),

    alarmFinished: async (hasFailed: boolean) => {
      failures = hasFailed ? failures + 1 : 0;
      notBeforeMs = Date.now() + backoffMs(failures, Math.random());
      await arm();
    },
  };
};

export type Upkeep = ReturnType<typeof openUpkeep>;
