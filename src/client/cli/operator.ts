import { answer } from './connection.ts';
import type { Context } from './context.ts';
import { CliError } from './failure.ts';

const TIMEOUT_MS = 120_000;

/** Calls the operator's paths, which are not in the API's document. */
export const openOperator = async ({ out, requireUrl }: Context) => {
  const token = process.env['LATCHKEY_OPERATOR_TOKEN']?.trim();
  if (!token)
    throw new CliError('There is no operator token.', {
      advice: 'Set LATCHKEY_OPERATOR_TOKEN to the service’s OPERATOR_TOKEN.',
    });
  out.hide(token);
  // Otherwise, `fetch` would throw an error that contains the token.
  if (!/^[!-~]+$/.test(token))
    throw new CliError('LATCHKEY_OPERATOR_TOKEN has characters that no operator token has.', {
      advice: 'Set it to the service’s OPERATOR_TOKEN alone, without a space or a line break.',
    });
  const origin = await requireUrl();

  const send = (
    method: string,
    path: string,
    init: Omit<RequestInit, 'headers'> & { headers?: Record<string, string> } = {},
  ) =>
    fetch(`${origin}/operator${path}`, {
      ...init,
      method,
      headers: { authorization: `Bearer ${token}`, ...init.headers },
    });

  const readJson = async <T>(request: Promise<Response>): Promise<NonNullable<T>> =>
    answer(
      request.then(async (response) => {
        const body: unknown = await response.json();
        return response.ok ? { data: body as T, response } : { error: body, response };
      }),
    );

  /** Returns the response if it is a success. */
  const succeed = async (request: Promise<Response>): Promise<Response> =>
    answer(
      request.then(async (response) =>
        response.ok ? { data: response, response } : { error: await response.json(), response },
      ),
    );

  return {
    get: <T>(path: string) => readJson<T>(send('GET', path, { signal: AbortSignal.timeout(TIMEOUT_MS) })),

    delete: <T>(path: string) =>
      readJson<T>(send('DELETE', path, { signal: AbortSignal.timeout(TIMEOUT_MS) })),

    post: <T>(path: string, body: object = {}) =>
      readJson<T>(
        send('POST', path, {
          body: JSON.stringify(body),
          headers: { 'content-type': 'application/json' },
          signal: AbortSignal.timeout(TIMEOUT_MS),
        }),
      ),

    /** A response of any length. */
    download: (path: string) => succeed(send('GET', path)),

    upload: <T>(path: string, file: Blob) =>
      readJson<T>(send('POST', path, { body: file, headers: { 'content-type': 'application/x-ndjson' } })),
  };
};
