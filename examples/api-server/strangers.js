// Bounds what callers without a license can cost: each made-up key is a call, and all calls share the API key's rate limit.
const MINUTE_MS = 60_000;
const MAX_OF_ADDRESS = 10;
const MAX_OF_ALL = 120;

/** Counts unknown license keys in each minute. A key is counted when it is asked about, and no more if it exists. */
export const createStrangers = (now) => {
  let minute = 0;
  let total = 0;
  /** Has at most as many entries as are admitted in a minute. */
  let counts = new Map();

  const add = (address, change) => {
    counts.set(address, (counts.get(address) ?? 0) + change);
    total += change;
  };

  return {
    admit: (address) => {
      const current = Math.floor(now() / MINUTE_MS);
      if (current !== minute) {
        minute = current;
        total = 0;
        counts = new Map();
      }
      if (total >= MAX_OF_ALL || (counts.get(address) ?? 0) >= MAX_OF_ADDRESS) return false;
      add(address, 1);
      return true;
    },
    readmit: (address) => {
      if (counts.has(address)) add(address, -1);
    },
  };
};
