import { hc } from 'hono/client';
import type { App } from '../../app.ts';
import { ApiError, type ErrorBody, unreachable } from './error.ts';

/** The Worker's routes, typed by the Worker itself. */
export const api = hc<App>('/').api;

/** Who wants to know that the session is over: the shell, which then asks to sign in again. */
let onSessionLost = () => {};
export const whenSessionIsLost = (listener: () => void) => {
  onSessionLost = listener;
};

const SESSION_CODES = ['api_key_required', 'invalid_session'];

interface Answer<T> {
  ok: boolean;
  status: number;
  headers: Headers;
  json: () => Promise<T>;
}

const send = async <T>(request: Promise<Answer<T>>): Promise<Answer<T>> => {
  try {
    return await request;
  } catch (error) {
    throw unreachable(error);
  }
};

const readError = async (answer: Answer<unknown>): Promise<ErrorBody> => {
  const unknown = {
    code: 'unexpected',
    message: `The service answered ${answer.status}`,
    request_id: answer.headers.get('x-request-id') ?? '',
  };
  try {
    return ((await answer.json()) as { error?: ErrorBody }).error ?? unknown;
  } catch {
    return unknown;
  }
};

/** The body of a good answer; everything else is thrown as an `ApiError`. */
export const call = async <T>(request: Promise<Answer<T>>): Promise<T> => {
  const answer = await send(request);
  if (answer.ok) return answer.json();
  const error = new ApiError(answer.status, await readError(answer));
  if (SESSION_CODES.includes(error.code)) onSessionLost();
  throw error;
};
