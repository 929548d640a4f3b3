// Idempotency keys of the fake of Stripe's API, as Stripe documents them: the first answer to a key is kept for 24 hours, an
// error too, unless the parameters were never looked at or another request with the key is still under way.
import type { Reply } from './stripe-charges.ts';

interface Kept {
  request: string;
  reply: Reply | null;
  usedMs: number;
}

const DAY_MS = 86_400_000;

const refuse = (status: number, message: string, code?: string): Reply => ({
  status,
  body: { error: { type: 'idempotency_error', message, ...(code && { code }) } },
});

/** Whether Stripe refused the request before it began: an unknown or missing parameter. */
const isUnread = ({ body }: Reply): boolean => {
  const { error } = body as { error?: { param?: string; code?: string } };
  return error?.param !== undefined && error.code === undefined;
};

export const openKeys = () => {
  const kept = new Map<string, Kept>();

  const start = async (key: string, request: string, run: () => Promise<Reply>): Promise<Reply> => {
    const entry: Kept = { request, reply: null, usedMs: Date.now() };
    kept.set(key, entry);
    try {
      entry.reply = await run();
    } finally {
      if (!entry.reply || isUnread(entry.reply)) kept.delete(key);
    }
    return entry.reply;
  };

  return {
    /** Lets 24 hours pass for the key. */
    age: (key: string): void => {
      const entry = kept.get(key);
      if (entry) entry.usedMs -= DAY_MS;
    },
    /** Answers a request, or repeats the answer to an earlier one with its key. */
    once: async (
      key: string | undefined,
      request: string,
      run: () => Promise<Reply>,
    ): Promise<Reply & { isRepeat: boolean }> => {
      const earlier = key === undefined ? undefined : kept.get(key);
      if (key === undefined) return { ...(await run()), isRepeat: false };
      if (!earlier || earlier.usedMs <= Date.now() - DAY_MS)
        return { ...(await start(key, request, run)), isRepeat: false };
      if (earlier.request !== request) {
        const message =
          'Keys for idempotent requests can only be used with the same parameters and endpoint.';
        return { ...refuse(400, message), isRepeat: false };
      }
      if (earlier.reply) return { ...earlier.reply, isRepeat: true };
      const message = 'There is currently another in-progress request using this Idempotent Key.';
      return { ...refuse(409, message, 'idempotency_key_in_use'), isRepeat: false };
    },
  };
};
