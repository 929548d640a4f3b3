import { isObject, type JsonObject, parseObject, text } from './bytes.ts';
import { type ClientSettings, type Runtime, within } from './options.ts';
import type { LicenseProblem } from './types.ts';

const ATTEMPTS = 3;
const TIMEOUT_MS = 10_000;
const FIRST_WAIT_MS = 500;
/** A longer Retry-After is left to the next refresh. */
const MAX_WAIT_MS = 30_000;
/** What is refused for a month, for example until the quota resets, may be possible tomorrow. */
const MAX_RETRY_AFTER_MS = 86_400_000;

interface Reply {
  /** Null if the reply isn't a JSON object with status 200. It says nothing about the license then. */
  body: JsonObject | null;
  retryAfterMs: number;
  /** Whether another attempt would be in vain. */
  isFinal: boolean;
  problem: LicenseProblem | null;
}

const FAILED: Reply = {
  body: null,
  retryAfterMs: 0,
  isFinal: false,
  problem: { kind: 'network', message: 'No answer.' },
};

const problemOf = (status: number, error: JsonObject): LicenseProblem => {
  const [requestId, message] = [text(error['request_id']), text(error['message'])];
  // What answers without an error of ours is a proxy, or another server.
  if (!requestId) return { kind: 'network', message: 'Another server answered.', status };
  const kind = error['code'] === 'usage_limit_exceeded' ? 'quota' : 'refused';
  return { kind, message: message ?? '', status, requestId };
};

/** Reads Retry-After: seconds, or a date. */
const readRetryAfter = (header: string | null, nowMs: number): number => {
  const ms = Number(header) * 1_000 || Date.parse(header ?? '') - nowMs;
  return ms > 0 ? Math.min(ms, MAX_RETRY_AFTER_MS) : 0;
};

/** A request that the service refuses is refused again. Anything else may be the network, or a proxy in between. */
const isRefusal = (status: number) => status >= 400 && status < 500 && status !== 408 && status !== 429;

/** Posts the input or, without one, gets the path. */
export type Send = (path: string, input: JsonObject | null, signal: AbortSignal) => Promise<Reply>;

export const openRequests = ({ baseUrl, apiKey, fetch, now }: ClientSettings, runtime: Runtime): Send => {
  const send: Send = async (path, input, signal) => {
    const response = await fetch(`${baseUrl}/api/v1/${path}`, {
      method: input ? 'POST' : 'GET',
      headers: input ? { 'content-type': 'application/json', 'x-api-key': apiKey } : {},
      ...(input && { body: JSON.stringify(input) }),
      // The license key isn't sent on to where a redirect leads.
      redirect: 'manual',
      signal,
    });
    const { status, headers } = response;
    const body = parseObject(await response.text());
    if (status === 200 && body) return { ...FAILED, body, problem: null };
    const error = body?.['error'];
    const problem = problemOf(status, isObject(error) ? error : {});
    // A proxy in between, whose page may ask for a day, doesn't know when the service answers again.
    const retryAfterMs = problem.requestId ? readRetryAfter(headers.get('retry-after'), now()) : 0;
    const isFinal = isRefusal(status) || retryAfterMs > MAX_WAIT_MS;
    return { body: null, retryAfterMs, isFinal, problem };
  };

  /** Ends after ten seconds or once the signal is aborted, even if `fetch` ignores its signal. */
  const attempt: Send = async (path, input, signal) => {
    // Node 20.0 has no AbortSignal.any.
    const over = new AbortController();
    const sent = send(path, input, over.signal).catch(() => FAILED);
    const reply = await within(runtime, TIMEOUT_MS, sent, signal);
    over.abort();
    return reply ?? FAILED;
  };

  return async (path, input, signal) => {
    let reply = FAILED;
    for (let count = 1; !signal.aborted; count += 1) {
      reply = await attempt(path, input, signal);
      if (reply.body || reply.isFinal || count === ATTEMPTS) break;
      const waitMs = reply.retryAfterMs + runtime.random() * FIRST_WAIT_MS * 2 ** (count - 1);
      await within(runtime, waitMs, undefined, signal);
    }
    return reply;
  };
};
