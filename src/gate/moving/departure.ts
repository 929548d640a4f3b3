import { DAY_MS, HOUR_MS } from '../../shared/rules/dates.ts';
import type { Region } from '../../shared/rules/regions.ts';
import { isStaged } from '../../shared/objects/backup.ts';
import { within } from '../../shared/objects/within.ts';
import { writeOrRestart } from '../../shared/objects/write-or-restart.ts';
import type { Part } from './arrival.ts';
import type { Disk } from '../../shared/objects/disk.ts';
import type { Moving, StoredPlace } from './place.ts';
import type { Routing } from './routing.ts';

/** The alarm has other work, too, so the copying stops after this time and goes on with the next alarm. */
const STEP_MS = 2_000;
const MESSAGE_MS = 10_000;
/** Calls wait for the calls before them at most this long, and then at most this long for the last message. */
const DRAIN_MS = 500;
const LAST_MESSAGE_MS = 2_000;
/** A move that has copied nothing for this long, or has not been completed this long after, is given up. */
const GIVE_UP_MS = HOUR_MS;

interface Parts {
  ctx: DurableObjectState;
  place: StoredPlace;
  disk: Disk;
  routing: Routing;
  epoch: number;
  /** Sends a message to the object of a later epoch. */
  receive: (epoch: number, part: Part) => Promise<void>;
  /** Writes what the gate still has in memory. */
  flush: () => void;
  /** Whether the gate loads its copy, in which it replaces whole tables. */
  isLoading: () => boolean;
}

export type MoveReply =
  | { refused: null; movingTo: Region | null }
  | { refused: 'moving'; movingTo: Region }
  | { refused: 'too_soon'; retryAfterSeconds: number };

const movingFrom = (place: StoredPlace): Moving => {
  const now = place.now();
  if (now.state !== 'moving') throw new Error('The account is not moving.');
  return now;
};

/** How an object hands its account over to the object of the next epoch, in another region. */
export const openDeparture = (parts: Parts) => {
  const { ctx, place, disk, routing, epoch, receive, flush, isLoading } = parts;
  let isLeaving = false;

  const nextEpoch = () => place.nextEpochs().at(-1) ?? epoch + 1;

  const send = async (part: Omit<Part, 'number' | 'region'>, ms = MESSAGE_MS): Promise<void> => {
    const moving = movingFrom(place);
    const number = moving.number + 1;
    place.save({ ...moving, number });
    await within(ms, receive(nextEpoch(), { ...part, number, region: moving.region }));
  };

  const advance = (copied: Moving['copied']) => {
    const moving = movingFrom(place);
    place.save({ ...moving, copied: { ...moving.copied, ...copied }, advancedMs: Date.now() });
  };

  const startCopying = () =>
    writeOrRestart(ctx, () => {
      // A backup can't be restored during a move.
      disk.drop(disk.tables().filter(isStaged));
      disk.watch();
      place.save({ ...movingFrom(place), layout: disk.layout(), copied: null });
    });

  /** Sends the next rows. Returns false if the rest fits into one message. */
  const sendNext = async (): Promise<boolean> => {
    const { copied } = movingFrom(place);
    if (!copied) {
      await send({ schema: disk.schema() });
      advance({});
      return true;
    }
    const table = disk.tables().find((name) => copied[name] !== 'end');
    if (table !== undefined) {
      const after = copied[table];
      const { part, last } = disk.page(table, after === undefined || after === 'end' ? null : after);
      if (last) await send({ tables: [part] });
      advance({ [table]: last ?? 'end' });
      return true;
    }
    const { parts: tables, through, isAll } = disk.changes();
    if (isAll) return false;
    await send({ tables });
    disk.forgetChanges(through);
    return true;
  };

  /**
   * Sends the last changes while new calls wait. Once the next object has them, this one stores that it has moved, and the
   * calls go there. If anything fails before, the calls are answered here.
   */
  const leave = async (): Promise<void> => {
    const resume = routing.pause();
    try {
      await routing.idle(DRAIN_MS);
      flush();
      const { layout } = movingFrom(place);
      const { parts: tables, isAll } = disk.changes();
      if (disk.layout() !== layout || !isAll) return;
      isLeaving = true;
      await send({ tables, values: place.values() }, LAST_MESSAGE_MS);
      const { region, givenUp } = movingFrom(place);
      // Calls are forwarded only once this is on disk, because the platform holds messages back until then.
      writeOrRestart(ctx, () => {
        disk.unwatch();
        const moved = { state: 'moved', epoch: nextEpoch(), region, atMs: Date.now(), givenUp } as const;
        place.save({ ...moved, hasBegun: false, isEmptied: false });
      });
    } finally {
      isLeaving = false;
      resume();
    }
  };

  return {
    /** Whether what is written now would be missing in the next object. */
    isLeaving: () => isLeaving || place.now().state === 'moved',

    start: (region: Region, home: Region | null): MoveReply => {
      const now = place.now();
      const movingTo = place.movingTo();
      if (movingTo !== null) return { refused: movingTo === region ? null : 'moving', movingTo };
      if (now.state !== 'home' || region === home) return { refused: null, movingTo: null };
      const { arrived, givenUp } = now;
      const waitMs = (arrived?.atMs ?? 0) + DAY_MS - Date.now();
      if (waitMs > 0) return { refused: 'too_soon', retryAfterSeconds: Math.ceil(waitMs / 1_000) };
      const copied = { layout: '', copied: null, advancedMs: Date.now() };
      place.save({ state: 'moving', region, arrived, number: 0, ...copied, givenUp });
      return { refused: null, movingTo: region };
    },

    isStuck: (): boolean => {
      return Date.now() >= movingFrom(place).advancedMs + GIVE_UP_MS;
    },

    /** The account stays here. */
    giveUp: () => {
      const { arrived, givenUp = 0 } = movingFrom(place);
      writeOrRestart(ctx, () => {
        disk.unwatch();
        place.save({ state: 'home', arrived, givenUp: givenUp + 1 });
      });
    },

    /** Goes on with the move. Returns false if it has to wait. */
    step: async (): Promise<boolean> => {
      if (isLoading()) return false;
      if (disk.layout() !== movingFrom(place).layout) startCopying();
      const endMs = Date.now() + STEP_MS;
      while (await sendNext()) if (Date.now() >= endMs) return true;
      await leave();
      return true;
    },
  };
};
