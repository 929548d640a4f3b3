import { FIRST_EPOCH, gateAt } from '../../shared/objects/address.ts';
import type { ObjectContext } from '../../shared/objects/context.ts';
import { openDisk } from '../../shared/objects/disk.ts';
import { eraseObject } from '../../shared/objects/erase.ts';
import type { Region } from '../../shared/rules/regions.ts';
import { logError } from '../../shared/text/log.ts';
import { openArrival } from './arrival.ts';
import { openDeparture } from './departure.ts';
import { KEEP_MS, type MovingHome, type StoredPlace } from './place.ts';
import { openRouting } from './routing.ts';

/** While the copy of D1 is loaded, a move waits. */
const WAIT_MS = 1_000;

/**
 * Moves an account's gate to another region: this object hands it over to another one, or takes it over. `home` opens the
 * home on this object's rows, or returns it.
 */
export const openMoving = (object: ObjectContext, place: StoredPlace, home: () => MovingHome) => {
  const { ctx, env, accountId, journal, alarm } = object;
  const { epoch } = place;
  const disk = openDisk(ctx.storage.sql);
  const arrival = openArrival(object, place, disk, home);

  const next = () => {
    const now = place.now();
    return now.state === 'moved' ? gateAt(env, accountId, now.epoch) : null;
  };

  const routing = openRouting(() => {
    const there = next();
    if (!there) arrival.begin();
    return there;
  });

  const departure = openDeparture(object, place, disk, routing);

  /** Returns this object's place if it has rows that are not needed any more, unless a move here is in progress. */
  const placeWithOldRows = () => {
    const now = place.now();
    return (now.state === 'moved' || now.state === 'receiving') && !now.isEmptied ? now : null;
  };

  /** Deletes the rows that are not needed any more. */
  const empty = (): void => {
    const now = placeWithOldRows();
    if (!now) return;
    journal.change(() => {
      disk.drop();
      place.replaceValues([]);
      place.save({ ...now, isEmptied: true });
    });
  };

  const emptyIfDue = async (nowMs: number): Promise<void> => {
    const atMs = placeWithOldRows()?.atMs;
    if (atMs === undefined || nowMs < atMs + KEEP_MS) return;
    // If the account has moved here and nobody has called it since, this call arrives here, and begins.
    if (place.now().state === 'receiving') await gateAt(env, accountId, FIRST_EPOCH).movingTo();
    empty();
  };

  const goOn = async (): Promise<void> => {
    if (departure.isStuck()) {
      departure.giveUp();
      logError('move_given_up', new Error('The move took too long.'), { account_id: accountId, epoch });
    } else if (!home().isLoading()) await departure.step();
  };

  alarm.add({
    failure: 'move_failed',
    isLast: true,

    dueMs: (nowMs) => {
      const now = place.now();
      if (now.state === 'moving') return home().isLoading() ? nowMs + WAIT_MS : nowMs;
      if (now.state === 'home') return now.arrived?.isAnnounced === false ? nowMs : null;
      if (now.state === 'moved' && !now.hasBegun) return nowMs;
      return now.isEmptied || now.atMs === undefined ? null : now.atMs + KEEP_MS;
    },

    run: async (nowMs) => {
      const now = place.now();
      if (now.state === 'moving') return goOn();
      if (now.state === 'home') {
        if (now.arrived?.isAnnounced === false) await arrival.announce(now.arrived);
        return;
      }
      if (now.state === 'moved' && !now.hasBegun) {
        // Any call lets the next object begin.
        await next()?.pull();
        const later = place.now();
        // A later move may have changed the place meanwhile.
        if (later.state === 'moved') journal.change(() => place.save({ ...later, hasBegun: true }));
      }
      await emptyIfDue(nowMs);
    },
  });

  return {
    routing,
    next,
    receive: arrival.receive,
    reopen: arrival.reopen,
    empty,

    /** Whether this object is the home, and no move is in progress. */
    isSettled: () => place.now().state === 'home' && place.movingTo() === null,

    start: async (region: Region) => {
      const reply = departure.start(region, await home().homeRegion());
      await journal.commit();
      return reply;
    },

    /** Where the account moves to, or null. */
    movingTo: place.movingTo,

    redirect: (later: number): void => {
      const now = place.now();
      if (now.state === 'moved' && now.epoch < later)
        journal.change(() => place.save({ ...now, epoch: later }));
    },

    /** Erases this object. The next ones come first: only this one's place tells that there are any. */
    erase: async (): Promise<void> => {
      // The move's next message would bring rows to the next object again.
      if (place.now().state === 'moving') departure.giveUp();
      for (const later of place.nextEpochs()) await gateAt(env, accountId, later).erase();
      await eraseObject(ctx);
    },
  };
};

export type Moving = ReturnType<typeof openMoving>;
