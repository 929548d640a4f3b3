import { ApiError } from './error.ts';

/** Requests that are in progress at a time. */
const PARALLEL = 4;
const MAX_ATTEMPTS = 10;

/** Ends early when the signal is aborted. */
const sleep = (ms: number, signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });

/** Returns a sender that waits and tries again over the rate limit. The wait holds back all of its requests, until it is aborted. */
const waitingSender = (signal: AbortSignal) => {
  let resumeAtMs = 0;
  return async (send: () => Promise<unknown>): Promise<unknown> => {
    for (let attempt = 1; ; attempt++) {
      if (resumeAtMs > Date.now()) await sleep(resumeAtMs - Date.now(), signal);
      signal.throwIfAborted();
      try {
        return await send();
      } catch (error) {
        if (!(error instanceof ApiError) || !error.isTooFast || attempt === MAX_ATTEMPTS) throw error;
        resumeAtMs = Date.now() + (error.retryAfterMs ?? 0);
      }
    }
  };
};

/** Sends a request for each item, a few at a time, until the signal is aborted. */
export const sendForEach = async <Item>(
  items: Item[],
  send: (item: Item) => Promise<unknown>,
  onResult: (item: Item, error: unknown) => void,
  signal: AbortSignal,
): Promise<void> => {
  const queue = items.values();
  const sendOrWait = waitingSender(signal);
  const drain = async () => {
    for (const item of queue) {
      if (signal.aborted) return;
      const error = await sendOrWait(() => send(item)).then(
        () => null,
        (failure: unknown) => failure,
      );
      // What was still waiting wasn't sent.
      if (signal.aborted && error === signal.reason) return;
      onResult(item, error);
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, drain));
};
