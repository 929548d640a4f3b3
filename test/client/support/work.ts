const CRYPTO = ['digest', 'importKey', 'verify', 'sign', 'deriveBits', 'deriveKey', 'exportKey'] as const;

/** Platform work that has been asked for and isn't done. A clock of a test waits for it. */
let pending = 0;
export const isWorking = (): boolean => pending > 0;

/** Counts the work of a promise until it settles. */
export const work = async <T>(promise: Promise<T>): Promise<T> => {
  pending += 1;
  try {
    return await promise;
  } finally {
    pending -= 1;
  }
};

/** What waits for the time to pass, inside of work, is no work. */
export const pause = async (promise: Promise<void>): Promise<void> => {
  pending -= 1;
  await promise;
  pending += 1;
};

let isWatched = false;
/** Counts cryptography as work, which runs beside JavaScript and takes as long as the computer likes. */
export const watchCrypto = (): void => {
  if (isWatched) return;
  isWatched = true;
  const { subtle } = crypto;
  for (const name of CRYPTO) {
    const original = subtle[name].bind(subtle) as (...args: unknown[]) => Promise<unknown>;
    Object.defineProperty(subtle, name, {
      value: (...args: unknown[]) => work(original(...args)),
      configurable: true,
      writable: true,
    });
  }
};
