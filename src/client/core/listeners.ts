import { isSame, isSameVerdict } from './state.ts';
import type { LicenseState } from './types.ts';

type Listener = (state: LicenseState) => void;

/** The present state, and who is told about a change. */
export const openCurrent = (first: LicenseState) => {
  const listeners = new Set<Listener>();
  let state = first;
  return {
    get: (): LicenseState => state,

    /** A state that says the same stays the same object, and a verdict that was only renewed is no change. */
    set: (next: LicenseState): LicenseState => {
      if (isSame(next, state)) return state;
      const isRenewed = isSameVerdict(next, state);
      state = next;
      if (isRenewed) return state;
      for (const listener of listeners) {
        try {
          listener(next);
        } catch (error) {
          console.error(error);
        }
      }
      return state;
    },

    listen: (listener: Listener) => {
      // Each call has its own entry, even with the same function.
      const entry: Listener = (next) => listener(next);
      listeners.add(entry);
      return () => void listeners.delete(entry);
    },
  };
};
