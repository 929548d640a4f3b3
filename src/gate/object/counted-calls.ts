import { createLru } from '../../shared/memory/lru.ts';

/** The platform repeats a call for at most ten seconds, and an account makes a thousand a second at most. */
const CALLS_IN_MEMORY = 10_000;

/**
 * The ids of counted calls, so that a repeat isn't counted again. All recent ids are in memory. The ids of the last two
 * commits are also on disk, because a restart cuts off calls of a commit whose replies are still on their way.
 */
export const openCountedCalls = (stored: string) => {
  const known = createLru<true>(CALLS_IN_MEMORY);
  let last = stored === '' ? [] : stored.split(' ');
  let current: string[] = [];
  for (const id of last) known.set(id, true);

  return {
    has: (id: string) => known.get(id) === true,

    add: (id: string) => {
      known.set(id, true);
      current.push(id);
    },

    /** Ends a commit and returns what it has to store. */
    takeText: (): string => {
      const text = [...last, ...current].join(' ');
      if (current.length > 0) last = current;
      current = [];
      return text;
    },
  };
};
