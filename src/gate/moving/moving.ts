import { databaseOf } from '../../db/client.ts';
import { armAlarm } from '../../shared/objects/arm-alarm.ts';
import { eraseObject } from '../../shared/objects/erase.ts';
import { logError } from '../../shared/text/log.ts';
import { FIRST_EPOCH, gateAt } from '../../shared/objects/address.ts';
import type { Region } from '../../shared/rules/regions.ts';
import { backoffMs } from '../rules/alarm-time.ts';
import { openArrival } from './arrival.ts';
import { openDeparture } from './departure.ts';
import { openDisk } from '../../shared/objects/disk.ts';
import { KEEP_MS, openPlace } from './place.ts';
import { openRouting } from './routing.ts';

/** While the copy of D1 is loaded, a move waits. */
const WAIT_MS = 1_000;

/** What a move needs of the gate, once the gate is open. */
export interface Served {
  homeRegion: () => Promise<Region | null>;
  isLoading: () => boolean;
  flush: () => void;
  pull: () => Promise<void>;
}

interface Parts {
  ctx: DurableObjectState;
  env: Env;
  accountId: string;
  epoch: number;
  /** Opens the gate on this object's rows. */
  open: () => void;
  served: () => Served;
}

/** Moves an account's gate to another region: this object hands it over to another one, or takes it over. */
export const openMoving = ({ ctx, env, accountId, epoch, open, served }: Parts) => {
  const { storage } = ctx;
  const place = openPlace(storage.kv, epoch);
  const disk = openDisk(storage.sql);
  let failures = 0;
  /** The alarm also comes for other work. A failed step is not repeated before this. */
  let notBeforeMs = 0;

  const next = () => {
    const now = place.now();
    return now.state === 'moved' ? gateAt(env, accountId, now.epoch) : null;
  };

  const arrival = openArrival({
    ctx,
    place,
    disk,
    db: () => databaseOf(env, accountId),
    accountId,
    open,
    pull: () => served().pull(),
    redirect: async (earlier) => gateAt(env, accountId, earlier).redirect(epoch),
    epoch,
  });

  const routing = openRouting(() => {
    const there = next();
    if (!there) arrival.begin();
    return there;
  });

  const departure = openDeparture({
    ctx,
    place,
    disk,
    routing,
    epoch,
    receive: async (next, part) => gateAt(env, accountId, next, part.region).receive(part),
    flush: () => served().flush(),
    isLoading: () => served().isLoading(),
  });

  /** Returns this object's place if it has rows that are not needed any more, unless a move here is in progress. */
  const placeWithOldRows = () => {
    const now = place.now();
    return (now.state === 'moved' || now.state === 'receiving') && !now.isEmptied ? now : null;
  };

  /** Deletes the rows that are not needed any more. */
  const empty = (): void => {
    const now = placeWithOldRows();
    if (!now) return;
    storage.transactionSync(() => {
      disk.drop();
      place.replaceValues([]);
      place.save({ ...now, isEmptied: true });
    });
  };

  /** Returns the delay before the rows may be deleted, or null. */
  const emptyIfDue = async (): Promise<number | null> => {
    const atMs = placeWithOldRows()?.atMs;
    if (atMs === undefined) return null;
    const waitMs = atMs + KEEP_MS - Date.now();
    if (waitMs > 0) return waitMs;
    // If the account has moved here and nobody has called it since, this call arrives here, and begins.
    if (place.now().state === 'receiving') await gateAt(env, accountId, FIRST_EPOCH).movingTo();
    empty();
    return null;
  };

  /** The epochs of the objects whose rows are not needed any more: of earlier homes, and of moves that were given up. */
  const formerEpochs = (): number[] => {
    const earlier = Array.from({ length: epoch - FIRST_EPOCH }, (_, index) => FIRST_EPOCH + index);
    const later = place.nextEpochs();
    return [...earlier, ...(place.now().state === 'moving' ? later.slice(0, -1) : later)];
  };

  const goOnMoving = async (): Promise<number | null> => {
    if (!departure.isStuck()) return (await departure.step()) ? 1 : WAIT_MS;
    departure.giveUp();
    logError('move_given_up', new Error('The move took too long.'), { account_id: accountId, epoch });
    return null;
  };

  /** Does what is due. Returns the delay before this should be called again, or null. */
  const work = async (): Promise<number | null> => {
    const now = place.now();
    if (now.state === 'moving') return goOnMoving();
    if (now.state === 'home' && now.arrived?.isAnnounced === false) {
      await arrival.announce(now.arrived.region, now.arrived.atMs);
      return null;
    }
    if (now.state === 'moved' && !now.hasBegun) {
      // Any call lets the next object begin.
      await next()?.pull();
      const later = place.now();
      // A later move may have changed the place meanwhile.
      if (later.state === 'moved') place.save({ ...later, hasBegun: true });
    }
    return emptyIfDue();
  };

  const arm = (inMs: number): Promise<void> => armAlarm(storage, Date.now() + inMs);

  return {
    routing,
    next,
    receive: arrival.receive,
    reopen: arrival.reopen,
    isLeaving: departure.isLeaving,

    /** Whether this object answers calls itself. */
    isHome: () => place.now().state === 'home' || place.now().state === 'moving',

    /** Whether this object is the home, and no move is in progress. */
    isSettled: () => place.now().state === 'home' && place.movingTo() === null,

    /** Whether a move has to go on after a restart. */
    isUnfinished: () => {
      const now = place.now();
      if (now.state === 'home') return now.arrived?.isAnnounced === false;
      return now.state === 'moving' || (now.state === 'moved' && !now.isEmptied);
    },

    start: async (region: Region) => {
      const reply = departure.start(region, await served().homeRegion());
      if (reply.refused === null && reply.movingTo !== null) await arm(1);
      return reply;
    },

    /** Where the account moves to, or null. */
    movingTo: place.movingTo,

    redirect: (later: number): void => {
      const now = place.now();
      if (now.state === 'moved' && now.epoch < later) place.save({ ...now, epoch: later });
    },

    empty,
    formerEpochs,

    /** Erases this object. The next ones come first: only this one's place tells that there are any. */
    erase: async (): Promise<void> => {
      // The move's next message would bring rows to the next object again.
      if (place.now().state === 'moving') departure.giveUp();
      for (const later of place.nextEpochs()) await gateAt(env, accountId, later).erase();
      await eraseObject(ctx);
    },

    arm,

    /** The alarm's part of a move. Never fails. */
    goOn: async (): Promise<void> => {
      let waitMs: number | null = notBeforeMs - Date.now();
      if (waitMs <= 0) {
        try {
          waitMs = await work();
          failures = 0;
        } catch (error) {
          logError('move_failed', error, { account_id: accountId, epoch });
          waitMs = backoffMs(++failures, Math.random());
          notBeforeMs = Date.now() + waitMs;
        }
      }
      if (waitMs !== null) await arm(Math.max(1, waitMs));
    },
  };
};

export type Moving = ReturnType<typeof openMoving>;
