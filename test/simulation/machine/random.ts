/** A generator of numbers that follow from a seed (xorshift32, started by a mix of the seed). */
export const openRandom = (seed: number) => {
  let state = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) || 1;

  const next = (): number => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
  for (let i = 0; i < 8; i++) next();

  return {
    next,
    between: (low: number, high: number): number => low + next() * (high - low),
    chance: (probability: number): boolean => next() < probability,
    seed: (): number => Math.floor(next() * 2 ** 31),
    fill: <T extends ArrayBufferView>(view: T): T => {
      const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
      for (let i = 0; i < bytes.length; i++) bytes[i] = Math.floor(next() * 256);
      return view;
    },
  };
};

export type Random = ReturnType<typeof openRandom>;
