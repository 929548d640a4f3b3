import type { Message, Process } from './model-process.ts';
import type { Body } from './model-types.ts';

/** A message, or the next commit of a process on its way to the disk. */
export type Item = { message: Message } | { commit: Process };

const isOf = (item: Item, kind: Body['kind'] | null) => 'message' in item && item.message.body.kind === kind;

/** Everything that is under way. `deliver` returns false if a message can't get through at present. */
export const openNetwork = (deliver: (item: Item) => boolean) => {
  const pool: Item[] = [];
  const held: Item[] = [];

  const find = (pick: number | Body['kind']): number =>
    typeof pick === 'number' ? pick % Math.max(1, pool.length) : pool.findIndex((item) => isOf(item, pick));

  return {
    add: (item: Item) => {
      pool.push(item);
    },

    deliverOne: (pick: number | Body['kind']) => {
      const at = find(pick);
      const [item] = at < 0 ? [] : pool.splice(at, 1);
      if (item && !deliver(item)) pool.push(item);
    },

    /** Delivers what is under way, in order, but holds up the first message of a kind. */
    flow: (rounds: number, hold: Body['kind'] | null = null) => {
      let isHeld = hold === null;
      for (let round = 0; round < rounds && pool.length > 0; round++) {
        const items = pool.splice(0);
        const left = items.filter((item) => {
          if (isHeld || !isOf(item, hold)) return !deliver(item);
          isHeld = true;
          held.push(item);
          return false;
        });
        pool.unshift(...left);
        if (left.length === pool.length) return;
      }
    },

    /** Lets messages go on that were held up. */
    release: () => {
      pool.push(...held.splice(0));
    },

    drop: (pick: number | Body['kind']) => {
      const at = find(pick);
      const item = pool[at];
      if (item && 'message' in item) pool.splice(at, 1);
    },

    repeat: (pick: number | Body['kind']) => {
      const item = pool[find(pick)];
      if (item && 'message' in item) pool.push(item);
    },
  };
};
