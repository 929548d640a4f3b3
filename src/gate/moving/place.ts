import { FIRST_EPOCH } from '../../shared/objects/address.ts';
import type { TableRows } from '../../shared/objects/disk.ts';
import { ownValue } from '../../shared/objects/own-values.ts';
import { DAY_MS } from '../../shared/rules/dates.ts';
import type { Region } from '../../shared/rules/regions.ts';

/**
 * The rows of an account that has moved stay this long at its former home, where only an operator can read them, and those of
 * a move that was given up as long where they have arrived.
 */
export const KEEP_MS = DAY_MS;

/** A message from a gate to the object that takes its place. */
export interface Part {
  /** Messages may be late. One with a lower number than an earlier one has older rows. */
  number: number;
  region: Region;
  /** Creates the tables. Only the first message has it. */
  schema?: string[];
  tables?: TableRows[];
  /** The values beside the tables. Only a message with everything that was still missing has them. */
  values?: [name: string, value: unknown][];
}

/** What a move needs of the home that it opens. */
export interface MovingHome {
  homeRegion: () => Promise<Region | null>;
  /** Whether the copy of D1 is being loaded, in which home replaces whole tables, or the account moves to another database. */
  isLoading: () => boolean;
  /** Applies the feed. */
  pull: () => Promise<void>;
}

interface Departing {
  /** How many moves from here were given up. Their objects may exist, in another region, so no later move uses them. */
  givenUp?: number | undefined;
}

export interface Arrived {
  region: Region;
  atMs: number;
  /** Whether D1 and the earlier objects know that the account is here. */
  isAnnounced: boolean;
}

/** Answers the account's calls. `arrived` is set if it has come from another region. */
interface Home extends Departing {
  state: 'home';
  arrived: Arrived | null;
}

/** Answers the account's calls, and copies its rows to the object of the next epoch. */
export interface MovingPlace extends Departing {
  state: 'moving';
  region: Region;
  /** When the gate came here, as far as it has moved before. */
  arrived: Arrived | null;
  /** The number of the last message to the next object. Stored before it is sent. */
  number: number;
  /** The layout of the tables when the copying began. */
  layout: string;
  /** The last copied primary key of each table, or 'end'. Null before the next object has the tables. */
  copied: Record<string, SqlStorageValue[] | 'end'> | null;
  /** When `copied` last changed. */
  advancedMs: number;
}

/** Forwards all calls to the object of a later epoch. Storing this is the fence: nothing is counted here afterwards. */
interface Moved extends Departing {
  state: 'moved';
  epoch: number;
  region: Region;
  atMs: number;
  /** Whether the next object is known to answer. */
  hasBegun: boolean;
  isEmptied: boolean;
}

/** Receives the rows of the object before. Once it has all of them, the first call makes it the home. */
interface Receiving {
  state: 'receiving';
  number: number;
  region: Region | null;
  isComplete: boolean;
  /** When the last message has arrived. */
  atMs?: number;
  /** Whether the rows were deleted, because no more have come. */
  isEmptied?: boolean;
}

/** Erases what is left of the account, and refuses all calls. Nobody can sign in to the account anymore. */
interface Erasing extends Departing {
  state: 'erasing';
}

export type Place = Home | MovingPlace | Moved | Receiving | Erasing;

const PLACE = ownValue('place');
/** How far the erasures of an account have come, see `openErasing`. */
export const ERASURE = ownValue('erasure');
/** Values that don't move with the others. */
const OWN = new Set([PLACE, ERASURE, 'name']);

/** What an object is to its account. An object without a stored place is the account's first one, or a new one. */
export const openPlace = (kv: SyncKvStorage, epoch: number) => {
  const initial: Place =
    epoch === FIRST_EPOCH
      ? { state: 'home', arrived: null }
      : { state: 'receiving', number: 0, region: null, isComplete: false };
  let place = kv.get<Place>(PLACE) ?? initial;
  let isLeaving = false;

  const movable = () => [...kv.list()].filter(([name]) => !OWN.has(name));

  /** The epochs of the objects to which the account was or is moved from here, also of moves that were given up. */
  const nextEpochs = (): number[] => {
    if (place.state === 'receiving') return [];
    const isOnTheWay = place.state === 'moving' || place.state === 'moved';
    const moves = (place.givenUp ?? 0) + (isOnTheWay ? 1 : 0);
    return Array.from({ length: moves }, (_, index) => epoch + 1 + index);
  };

  /** The epochs of the objects that were the account's home before. */
  const earlierEpochs = (): number[] =>
    Array.from({ length: epoch - FIRST_EPOCH }, (_, index) => FIRST_EPOCH + index);

  return {
    epoch,
    now: (): Readonly<Place> => place,

    /** Whether this object answers calls itself. */
    isHome: () => place.state === 'home' || place.state === 'moving',

    /** Whether what is written now would be missing in the next object. */
    isLeaving: () => isLeaving || place.state === 'moved',

    /** While the last message is on its way, nobody knows which object is the home. */
    setLeaving: (leaving: boolean) => {
      isLeaving = leaving;
    },

    /** Stores the place, as part of the current transaction. */
    save: (next: Place) => {
      kv.put(PLACE, next);
      place = next;
    },

    /** Where the account moves to, or null. */
    movingTo: (): Region | null => {
      if (place.state === 'moving') return place.region;
      return place.state === 'home' && place.arrived?.isAnnounced === false ? place.arrived.region : null;
    },

    nextEpochs,

    earlierEpochs,

    /** The epochs of the objects whose rows are not needed any more: of earlier homes, and of moves that were given up. */
    formerEpochs: (): number[] => {
      const later = nextEpochs();
      return [...earlierEpochs(), ...(place.state === 'moving' ? later.slice(0, -1) : later)];
    },

    /** All stored values that move. */
    values: movable,

    replaceValues: (values: [name: string, value: unknown][]) => {
      for (const [name] of movable()) kv.delete(name);
      for (const [name, value] of values) kv.put(name, value);
    },
  };
};

export type StoredPlace = ReturnType<typeof openPlace>;
