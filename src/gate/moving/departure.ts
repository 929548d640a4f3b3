import { gateAt } from '../../shared/objects/address.ts';
import type { ObjectContext } from '../../shared/objects/context.ts';
import type { Disk } from '../../shared/objects/disk.ts';
import { dropStage } from '../../shared/objects/stage.ts';
import { within } from '../../shared/objects/within.ts';
import { DAY_MS, HOUR_MS } from '../../shared/rules/dates.ts';
import type { Region } from '../../shared/rules/regions.ts';
import type { MovingPlace, Part, StoredPlace } from './place.ts';
import type { Routing } from './routing.ts';

/** The alarm has other work, too, so the copying stops after this time and goes on with the next alarm. */
const STEP_MS = 2_000;
const MESSAGE_MS = 10_000;
/** Calls wait for the calls before them at most this long, and then at most this long for the last message. */
const DRAIN_MS = 500;
const LAST_MESSAGE_MS = 2_000;
/** A move that has copied nothing for this long, or has not been completed this long after, is given up. */
const GIVE_UP_MS = HOUR_MS;

export type MoveReply =
  | { refused: null; movingTo: Region | null }
  | { refused: 'moving'; movingTo: Region }
  | { refused: 'too_soon'; retryAfterSeconds: number };

const movingFrom = (place: StoredPlace): MovingPlace => {
  const now = place.now();
  if (now.state !== 'moving') throw new Error('The account is not moving.');
  return now;
};

/** How an object hands its account over to the object of the next epoch, in another region. */
export const openDeparture = (
  { ctx, env, accountId, journal }: ObjectContext,
  place: StoredPlace,
  disk: Disk,
  routing: Routing,
) => {
  const nextEpoch = () => place.nextEpochs().at(-1) ?? place.epoch + 1;

  const send = async (part: Omit<Part, 'number' | 'region'>, ms = MESSAGE_MS): Promise<void> => {
    const moving = movingFrom(place);
    const number = moving.number + 1;
    journal.change(() => place.save({ ...moving, number }));
    const { region } = moving;
    const next = gateAt(env, accountId, nextEpoch(), region);
    const receive = async () => next.receive({ ...part, number, region });
    await within(ms, receive());
  };

  const advance = (copied: MovingPlace['copied']) => {
    const moving = movingFrom(place);
    const advanced = { ...moving, copied: { ...moving.copied, ...copied }, advancedMs: Date.now() };
    journal.change(() => place.save(advanced));
  };

  const startCopying = () =>
    journal.change(() => {
      // A backup can't be restored during a move.
      dropStage(ctx.storage);
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
      if (part.rows.length > 0) await send({ tables: [part] });
      // Rows that are added after the last page are in the log.
      advance({ [table]: last ?? 'end' });
      return true;
    }
    const { parts: tables, through, isAll } = disk.changes();
    if (isAll) return false;
    await send({ tables });
    journal.change(() => disk.forgetChanges(through));
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
      // Writes what the gate still has in memory.
      journal.change(() => {});
      const { layout } = movingFrom(place);
      const { parts: tables, isAll } = disk.changes();
      if (disk.layout() !== layout || !isAll) return;
      place.setLeaving(true);
      await send({ tables, values: place.values() }, LAST_MESSAGE_MS);
      const { region, givenUp } = movingFrom(place);
      // Calls are forwarded only once this is on disk, because the platform holds messages back until then.
      journal.change(() => {
        disk.unwatch();
        const moved = { state: 'moved', epoch: nextEpoch(), region, atMs: Date.now(), givenUp } as const;
        place.save({ ...moved, hasBegun: false, isEmptied: false });
      });
    } finally {
      place.setLeaving(false);
      resume();
    }
  };

  return {
    start: (region: Region, home: Region | null, isDryRun: boolean): MoveReply => {
      const now = place.now();
      const movingTo = place.movingTo();
      if (movingTo !== null) return { refused: movingTo === region ? null : 'moving', movingTo };
      if (now.state !== 'home' || region === home) return { refused: null, movingTo: null };
      const { arrived, givenUp } = now;
      const waitMs = (arrived?.atMs ?? 0) + DAY_MS - Date.now();
      if (waitMs > 0) return { refused: 'too_soon', retryAfterSeconds: Math.ceil(waitMs / 1_000) };
      if (isDryRun) return { refused: null, movingTo: region };
      const copied = { layout: '', copied: null, advancedMs: Date.now() };
      const moving = { state: 'moving', region, arrived, number: 0, ...copied, givenUp } as const;
      journal.change(() => place.save(moving));
      return { refused: null, movingTo: region };
    },

    isStuck: (): boolean => {
      return Date.now() >= movingFrom(place).advancedMs + GIVE_UP_MS;
    },

    /** The account stays here. */
    giveUp: () => {
      const { arrived, givenUp = 0 } = movingFrom(place);
      journal.change(() => {
        disk.unwatch();
        place.save({ state: 'home', arrived, givenUp: givenUp + 1 });
      });
    },

    /** Goes on with the move. */
    step: async (): Promise<void> => {
      if (disk.layout() !== movingFrom(place).layout) startCopying();
      const endMs = Date.now() + STEP_MS;
      while (await sendNext()) if (Date.now() >= endMs) return;
      await leave();
    },
  };
};
