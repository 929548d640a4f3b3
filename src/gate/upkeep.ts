import { randomBase62 } from '../shared/random.ts';
import { backoffMs, type GateWork, LAST_CHECK_MS, nextAlarmMs, nextPageMs } from './alarm-time.ts';
import type { Copy } from './copy.ts';
import type { Outgoing } from './outgoing.ts';
import type { Receipt } from './replies.ts';

/** A change that was announced and whose outcome the gate doesn't know yet. */
interface Announced {
  token: string;
  atMs: number;
  /** The id of the row that the change creates or updates. */
  ref: string;
  receipt: Receipt | null;
}

const MAX_ANNOUNCED = 1_000;

const ANNOUNCED = 'announced';
/** Until version 0.1, only the time of the last announced change was kept. */
const ANNOUNCED_AT = 'announced_at';

const readAnnounced = (kv: SyncKvStorage): Announced[] => {
  const atMs = kv.get<number>(ANNOUNCED_AT);
  const older = atMs === undefined ? [] : [{ token: '', atMs, ref: '', receipt: null }];
  return [...older, ...(kv.get<Announced[]>(ANNOUNCED) ?? [])];
};

/** Decides when the gate's alarm has to do something that no call waits for: check D1, load a page, forward events. */
export const openUpkeep = (storage: DurableObjectStorage, copy: Copy, outgoing: Outgoing) => {
  const { kv } = storage;
  let announced = readAnnounced(kv);
  let loadDueMs: number | null = null;
  let failures = 0;
  let notBeforeMs = 0;
  let hasAlarmForEvents = false;

  const setAnnounced = (changes: Announced[]) => {
    announced = changes;
    kv.delete(ANNOUNCED_AT);
    if (changes.length === 0) kv.delete(ANNOUNCED);
    else kv.put(ANNOUNCED, changes);
  };

  const planLoad = () => {
    const position = copy.loadPosition();
    const isReload = copy.progress().complete;
    loadDueMs = position === null ? null : nextPageMs(isReload, position === '', Date.now(), Math.random());
  };
  planLoad();

  /** Sets the alarm for the next work, but never later than it is set already. */
  const arm = async (): Promise<void> => {
    const announcedAtMs = announced.map(({ atMs }) => atMs);
    const work: GateWork = { announcedAtMs, hasEvents: !outgoing.isEmpty(), loadDueMs, notBeforeMs };
    const dueMs = nextAlarmMs(work, Date.now());
    if (dueMs === null) return;
    const armedMs = (await storage.getAlarm()) ?? Infinity;
    if (dueMs < armedMs) await storage.setAlarm(dueMs);
  };

  return {
    arm,

    /** Notes a change that is about to be committed, so that the alarm checks for it if its request dies. */
    announce: async (ref: string, receipt: Receipt | null): Promise<string> => {
      const token = randomBase62(12);
      setAnnounced([...announced, { token, atMs: Date.now(), ref, receipt }]);
      await arm();
      return token;
    },

    isFull: () => announced.length >= MAX_ANNOUNCED,

    /** The announced change has been applied, or is known not to have been committed. */
    settle: (token: string) => {
      if (announced.some((change) => change.token === token)) {
        setAnnounced(announced.filter((change) => change.token !== token));
      }
    },

    /** These rows have come from the feed: the changes that announced them were committed. */
    noteApplied: (ids: ReadonlySet<string>) => {
      if (announced.some(({ ref }) => ids.has(ref))) {
        setAnnounced(
          announced.map((change) => (ids.has(change.ref) ? { ...change, receipt: null } : change)),
        );
      }
    },

    needsPull: () => announced.length > 0 || !copy.progress().complete,

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
     * Returns the receipts of changes that were never committed: they are older than any D1 query can take, and D1 has
     * just been read.
     */
    takeUncommitted: (nowMs: number): Receipt[] => {
      const isOver = ({ atMs }: Announced) => nowMs >= atMs + LAST_CHECK_MS;
      const over = announced.filter(isOver);
      if (over.length > 0) setAnnounced(announced.filter((change) => !isOver(change)));
      return over.flatMap(({ receipt }) => (receipt ? [receipt] : []));
    },

    alarmFinished: async (hasFailed: boolean) => {
      failures = hasFailed ? failures + 1 : 0;
      notBeforeMs = Date.now() + backoffMs(failures, Math.random());
      await arm();
    },
  };
};

export type Upkeep = ReturnType<typeof openUpkeep>;
