export interface Lru<V extends {}> {
  get: (key: string) => V | undefined;
  set: (key: string, value: V) => void;
  delete: (key: string) => void;
  /** Replaces every value. */
  update: (change: (value: V) => V) => void;
}

/** An approximate LRU map. It keeps at least the `size` most recently used entries, and at most twice as many. */
export const createLru = <V extends {}>(size: number): Lru<V> => {
  let young = new Map<string, V>();
  /** Entries not used since the last swap. The next swap drops them. */
  let old = new Map<string, V>();

  const set = (name: string, value: V) => {
    if (young.size >= size) {
      old = young;
      young = new Map();
    }
    young.set(name, value);
  };

  return {
    set,

    get: (name) => {
      const value = young.get(name);
      if (value !== undefined) return value;
      const oldValue = old.get(name);
      if (oldValue !== undefined) set(name, oldValue);
      return oldValue;
    },

    delete: (name) => {
      young.delete(name);
      old.delete(name);
    },

    update: (change) => {
      for (const entries of [young, old])
        for (const [name, value] of entries) entries.set(name, change(value));
    },
  };
};
