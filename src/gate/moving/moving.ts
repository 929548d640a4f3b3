import { eq } from 'drizzle-orm';
import { databaseOf } from '../../db/client.ts';
import { accounts } from '../../db/schema.ts';
import { FIRST_EPOCH, gateAt } from '../../shared/objects/address.ts';
import type { ObjectContext } from '../../shared/objects/context.ts';
import { type Disk, openDisk } from '../../shared/objects/disk.ts';
import { eraseObject } from '../../shared/objects/erase.ts';
import type { Region } from '../../shared/rules/regions.ts';
import { logError } from '../../shared/text/log.ts';
import { commitUnannounced } from '../feed/write.ts';
import { openDeparture } from './departure.ts';
import { type Arrived, KEEP_MS, type MovingHome, type Part, type StoredPlace } from './place.ts';
import { openRouting } from './routing.ts';

/** How an object becomes the home of an account that moves here. `open` opens the home on the rows that have arrived. */
const openArrival = (
  { env, accountId, journal }: ObjectContext,
  place: StoredPlace,
  disk: Disk,
  open: () => MovingHome,
) => {
  const becomeHome = (arrived: Arrived | null) => {
    open();
    journal.change(() => place.save({ state: 'home', arrived }));
  };

  return {
    receive: ({ number, region, schema, tables = [], values }: Part): void => {
      const now = place.now();
      if (now.state !== 'receiving') throw new Error('This gate answers calls already.');
      if (number === now.number) return;
      if (number < now.number) throw new Error('A later message has arrived already.');
      if (now.isEmptied && !schema) throw new Error('The rows of the messages before were deleted.');
      journal.change(() => {
        if (schema) disk.create(schema);
        for (const rows of tables) disk.write(rows);
        if (values) place.replaceValues(values);
        const isComplete = values !== undefined;
        place.save({ state: 'receiving', number, region, isComplete, atMs: Date.now() });
      });
    },

    /** The first call proves that the object before has stopped answering. */
    begin: (): void => {
      const now = place.now();
      if (now.state !== 'receiving') return;
      if (!now.isComplete || !now.region) throw new Error('The account has not moved to this gate.');
      becomeHome({ region: now.region, atMs: Date.now(), isAnnounced: false });
    },

    /** An object that calls are forwarded to, but that has no rows, has lost them. Makes it an empty home. */
    reopen: (): void => {
      const now = place.now();
      if (now.state === 'receiving' && now.number === 0) becomeHome(null);
    },

    /** Tells D1 and the earlier objects where the account is. The object just before this one knows. */
    announce: async (arrived: Arrived): Promise<void> => {
      const { region } = arrived;
      const db = databaseOf(env, accountId);
      const setRegion = db.update(accounts).set({ homeRegion: region }).where(eq(accounts.id, accountId));
      await commitUnannounced({ db, accountId }, [setRegion], [{ kind: 'account', ref: accountId }]);
      await open().pull();
      const { epoch } = place;
      const earlier = Array.from({ length: Math.max(0, epoch - 2) }, (_, index) => index + 1);
      // Without this, they forward by way of the objects between.
      await Promise.allSettled(earlier.map(async (former) => gateAt(env, accountId, former).redirect(epoch)));
      if (place.now().state === 'home')
        journal.change(() => place.save({ state: 'home', arrived: { ...arrived, isAnnounced: true } }));
    },
  };
};

/** While the copy of D1 is loaded, a move waits. */
const WAIT_MS = 1_000;

/**
 * Moves an account's gate to another region: this object hands it over to another one, or takes it over. `home` opens the
 * home on this object's rows, or returns it. `erased` answers in its place once the account is being erased.
 */
export const openMoving = (
  object: ObjectContext,
  place: StoredPlace,
  home: () => MovingHome,
  erased: object,
) => {
  const { ctx, env, accountId, journal, alarm } = object;
  const { epoch } = place;
  const disk = openDisk(ctx.storage.sql);
  const arrival = openArrival(object, place, disk, home);

  const next = () => {
    const now = place.now();
    return now.state === 'moved' ? gateAt(env, accountId, now.epoch) : null;
  };

  const routing = openRouting(() => {
    const there = place.now().state === 'erasing' ? erased : next();
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
      if (now.state === 'erasing') return null;
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

    start: async (region: Region, isDryRun: boolean) => {
      const reply = departure.start(region, await home().homeRegion(), isDryRun);
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

    /** Lets no call in anymore, because the account is being erased. A move would bring rows to the next object again. */
    endForErasure: (): void => {
      if (place.now().state === 'moving') departure.giveUp();
      journal.change(() => place.save({ state: 'erasing', givenUp: place.nextEpochs().length }));
    },

    /** Deletes the rows of an account that is being erased. */
    dropForErasure: (): void =>
      journal.write(() => {
        disk.drop();
        place.replaceValues([]);
      }),

    /** Erases this object. The next ones come first, unless the caller erases them: only this one's place tells that there are any. */
    erase: async (isAlone: boolean): Promise<void> => {
      if (place.now().state === 'moving') departure.giveUp();
      if (!isAlone) for (const later of place.nextEpochs()) await gateAt(env, accountId, later).erase();
      await eraseObject(ctx);
    },
  };
};

export type Moving = ReturnType<typeof openMoving>;
