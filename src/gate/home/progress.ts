import { HOUR_MS } from '../../shared/rules/dates.ts';
import type { FeedPosition } from '../rules/rows.ts';
import { COPY_VERSION } from './copy-tables.ts';

/** State of the copy. `loadedThrough` is the last license that the background load has copied. */
export interface Progress extends FeedPosition {
  version: number;
  epoch: string;
  loadedThrough: string;
  complete: boolean;
  /**
   * A reload beside the current copy, which goes on answering. Once it has read everything, it is compared with the current copy,
   * up to `comparedThrough`, unless `isExact`: then D1 is right about everything. `isAnyMissing` says that some of the current
   * licenses may end with it, but not `goneIds`: those are in D1, under keys that have gone.
   */
  reload: {
    loadedThrough: string;
    /** When it begins. Absent in what version 1.0 has stored: then it begins at once. */
    startsMs?: number;
    comparedThrough?: string;
    isExact?: boolean;
    isAnyMissing?: boolean;
    goneIds?: string[];
  } | null;
  /** Licenses whose keys others have got. Whether they have ended is decided by the next reload, which begins by then. */
  replaced?: Replaced | undefined;
  /** The service was restored, and the load that goes on is the first since. Only it ends what the gate has of licenses that are nowhere. */
  isRestored?: true | undefined;
}

/** Reloads of many gates, as after a deploy, are spread over this long. */
const RELOAD_SPREAD_MS = HOUR_MS / 6;

/** A reload begins at a random time. It is stored, because a gate that is seldom called is unloaded before then. */
export const newReload = (isExact: boolean, nowMs: number, random: number) => ({
  loadedThrough: '',
  startsMs: nowMs + random * RELOAD_SPREAD_MS,
  isExact,
});

interface Replaced {
  ids: string[];
  dueMs: number;
}

const MAX_REPLACED = 1_000;

/** Notes licenses whose keys others have got. */
export const withReplaced = (
  noted: Replaced | undefined,
  ids: string[],
  dueMs: number,
): Replaced | undefined => {
  if (ids.length === 0) return noted;
  const all = new Set([...(noted?.ids ?? []), ...ids]);
  return { ids: [...all].slice(-MAX_REPLACED), dueMs: noted?.dueMs ?? dueMs };
};

export const earliest = (...times: (number | null)[]): number | null => {
  const known = times.filter((time) => time !== null);
  return known.length > 0 ? Math.min(...known) : null;
};

export const noProgress = (epoch: string): Progress => ({
  version: COPY_VERSION,
  epoch,
  loadedThrough: '',
  complete: false,
  appliedSeq: 0,
  appliedAt: null,
  reload: null,
});

/** The position in the feed of a D1 that was restored: at its start, although the rows of before the restore are known. */
export const afterRestore = ({ appliedAt, knownUntil }: FeedPosition): FeedPosition => ({
  appliedSeq: 0,
  appliedAt: null,
  knownUntil: Math.max(knownUntil ?? 0, appliedAt ?? 0),
});
