import type { Region } from '../../shared/rules/regions.ts';
import { FIRST_EPOCH } from '../../shared/objects.ts';

/** Answers the account's calls. `arrived` is set if it has come from another region. */
interface Home {
  state: 'home';
  arrived: {
    region: Region;
    atMs: number;
    /** Whether D1 and the earlier objects know that the account is here. */
    isAnnounced: boolean;
  } | null;
}

/** Answers the account's calls, and copies its rows to the object of the next epoch. */
export interface Moving {
  state: 'moving';
  region: Region;
  /** When the gate came here, as far as it has moved before. */
  arrived: Home['arrived'];
  /** The number of the last message to the next object. Stored before it is sent. */
  number: number;
  /** The layout of the tables when the copying began. */
  layout: string;
  /** The last copied primary key of each table, or 'end'. Null before the next object has the tables. */
  copied: Record<string, SqlStorageValue[] | 'end'> | null;
}

/** Forwards all calls to the object of a later epoch. Storing this is the fence: nothing is counted here afterwards. */
export interface Moved {
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
}

export type Place = Home | Moving | Moved | Receiving;

const PLACE = 'place';
/** Values that don't move with the others. */
const OWN = new Set([PLACE, 'name']);

/** What an object is to its account. An object without a stored place is the account's first one, or a new one. */
export const openPlace = (kv: SyncKvStorage, epoch: number) => {
  const initial: Place =
    epoch === FIRST_EPOCH
      ? { state: 'home', arrived: null }
      : { state: 'receiving', number: 0, region: null, isComplete: false };
  let place = kv.get<Place>(PLACE) ?? initial;

  const movable = () => [...kv.list()].filter(([name]) => !OWN.has(name));

  return {
    now: (): Readonly<Place> => place,

    save: (next: Place) => {
      kv.put(PLACE, next);
      place = next;
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
