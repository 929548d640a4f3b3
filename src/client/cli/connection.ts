import { setTimeout as delay } from 'node:timers/promises';
import { type ApiClient, createClient } from '../api/client.ts';
import type { components } from '../api/schema.ts';
import { CliError, networkReason } from './failure.ts';
import { typed } from './invocation.ts';

const TIMEOUT_MS = 40_000;
const MAX_WAIT_SECONDS = 5;
const MAX_ATTEMPTS = 4;

/** Aborts with the signal, or after the time. Node.js 20.0 has no AbortSignal.any. */
const orAfter = (signal: AbortSignal, ms: number): AbortSignal => {
  const over = new AbortController();
  for (const either of [signal, AbortSignal.timeout(ms)]) {
    if (either.aborted) over.abort(either.reason);
    either.addEventListener('abort', () => over.abort(either.reason), { once: true });
  }
  return over.signal;
};

/** Waits for a key that is too fast. A refused call has done nothing, so it can be repeated. */
const sendWithin = async (request: Request, timeoutMs: number): Promise<Response> => {
  for (let attempt = 1; ; attempt++) {
    const response = await fetch(request.clone(), { signal: orAfter(request.signal, timeoutMs) });
    const waitSeconds = Number(response.headers.get('retry-after') ?? Infinity);
    if (response.status !== 429 || attempt === MAX_ATTEMPTS || !(waitSeconds <= MAX_WAIT_SECONDS))
      return response;
    await delay(waitSeconds * 1_000);
  }
};

export const connect = (url: string, apiKey: string, timeoutMs = TIMEOUT_MS): ApiClient =>
  createClient({ baseUrl: url, apiKey, fetch: (request) => sendWithin(request, timeoutMs) });

const isErrorBody = (body: unknown): body is components['schemas']['Error'] =>
  typeof (body as components['schemas']['Error'] | undefined)?.error?.message === 'string';

/** What was answered by something else. A page with status 200 is no failure that passes. */
export const notLatchkey = (status?: number, cause?: unknown): CliError => {
  const said = status === undefined ? '' : ` (status ${status})`;
  return new CliError(`The answer doesn’t come from Latchkey${said}.`, {
    code: 'not_latchkey',
    advice: 'Check the URL, and whether a proxy or the network’s sign-in page answers in its place.',
    status: status ?? null,
    cause,
  });
};

const toError = (body: unknown, response: Response): CliError => {
  const { status } = response;
  if (!isErrorBody(body)) return notLatchkey(status);
  const { code, message, request_id, details } = body.error;
  return new CliError(message, { code, requestId: request_id, details: details ?? [], status });
};

/** Every answer is JSON, lines of it, or text. A stream is read only later, so a page in its place would be taken for it. */
const isOfService = ({ headers }: Response) => /json|text\/plain/.test(headers.get('content-type') ?? '');

/** Returns the answer of a call, or throws an error with the service's message and request id. */
export const answer = async <T>(
  call: Promise<{ data?: T; error?: unknown; response: Response }>,
): Promise<NonNullable<T>> => {
  const { data, error, response } = await call.catch((cause: unknown) => {
    if (cause instanceof SyntaxError) throw notLatchkey(undefined, cause);
    throw new CliError(`The service can’t be reached: ${networkReason(cause)}.`, {
      code: 'unreachable',
      advice: `Check the URL and the network, or run ${typed('doctor')}.`,
      cause,
    });
  });
  if (data === undefined || data === null || !response.ok) throw toError(error, response);
  if (!isOfService(response)) throw notLatchkey(response.status);
  return data;
};
