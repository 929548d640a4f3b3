import { hc, type InferRequestType } from 'hono/client';
import type { App } from '../../app.ts';
import { plural } from '../lib/format.ts';
import { ApiError, type ErrorBody, unreachable } from './error.ts';
import { fetchProved } from './proof.ts';

/** A client with the types of the Worker's routes. */
export const service = hc<App>('/', { fetch: fetchProved });
export const { api } = service;

/** The JSON body of an endpoint's requests. */
export type JsonOf<Endpoint> = InferRequestType<Endpoint> extends { json: infer Json } ? Json : never;

/** Called when the API answers that the session has ended. */
let onSessionLost = () => {};
export const setSessionLostListener = (listener: () => void) => {
  onSessionLost = listener;
};

const SESSION_CODES = ['api_key_required', 'invalid_session'];

interface ApiResponse<T> {
  ok: boolean;
  status: number;
  headers: Headers;
  json: () => Promise<T>;
}

const send = async <R>(request: Promise<R>): Promise<R> => {
  try {
    return await request;
  } catch (error) {
    throw unreachable(error);
  }
};

const readRetryAfter = ({ headers }: ApiResponse<unknown>): number | null => {
  const seconds = Number.parseInt(headers.get('retry-after') ?? '', 10);
  return Number.isNaN(seconds) ? null : seconds;
};

const HOUR_SECONDS = 3_600;

const waitText = (seconds: number) => {
  if (seconds < 60) return plural(seconds, 'second');
  if (seconds < 2 * HOUR_SECONDS) return plural(Math.ceil(seconds / 60), 'minute');
  return plural(Math.ceil(seconds / HOUR_SECONDS), 'hour');
};

/** Says when to try again. A message that says more than the default stays, such as that another import is running. */
const tooManyRequests = (message: string, seconds: number) => {
  const reason = message === 'Rate Limit Exceeded' ? 'Too many requests' : message.replace(/\.$/, '');
  return `${reason}. Try again in ${waitText(seconds)}.`;
};

const readError = async (response: ApiResponse<unknown>): Promise<ErrorBody> => {
  const fallback = {
    code: 'unexpected',
    message: `The service answered with status ${response.status}`,
    request_id: response.headers.get('x-request-id') ?? '',
  };
  try {
    return ((await response.json()) as { error?: ErrorBody }).error ?? fallback;
  } catch {
    return fallback;
  }
};

/** Returns a successful response, and throws an `ApiError` otherwise. */
export const checked = async <R extends ApiResponse<unknown>>(request: Promise<R>): Promise<R> => {
  const response = await send(request);
  if (response.ok) return response;
  const body = await readError(response);
  const seconds = readRetryAfter(response);
  if (body.code === 'rate_limit_exceeded' && seconds !== null)
    body.message = tooManyRequests(body.message, seconds);
  const error = new ApiError(response.status, body, {
    retryAfterMs: seconds === null ? null : seconds * 1_000,
  });
  if (SESSION_CODES.includes(error.code)) onSessionLost();
  throw error;
};

/** Returns the body of a successful response, and throws an `ApiError` otherwise. */
export const call = async <T>(request: Promise<ApiResponse<T>>): Promise<T> =>
  (await checked(request)).json();
