import { ERRORS } from '../../../src/http/errors.ts';
import { AppError, type ErrorCode } from '../../../src/shared/app-error.ts';
import { randomBase62 } from '../../../src/shared/crypto/random.ts';

/** What is between an application and the service. `times` is for how many requests, after which the network is up. */
export type Network = { times?: number } & (
  | { network: 'up' | 'down' | 'hangs' | 'loses_answers' | 'repeats' }
  | { network: 'slow'; seconds: number }
  | { network: 'error'; code: ErrorCode; retry_after?: number }
  | { network: 'page'; status: number; headers?: Record<string, string>; body?: unknown }
  | { network: 'changes'; fields: Record<string, unknown> }
);

const NETWORKS = ['up', 'down', 'hangs', 'loses_answers', 'repeats', 'slow', 'error', 'page', 'changes'];

/** Time passes only if the test says so. */
export interface Clock {
  nowMs: () => number;
  /** Resolves once so much time has passed. */
  wait: (ms: number) => Promise<void>;
}

/** An answer, or what happens to the connection instead. */
export type Delivery = Response | 'cut' | 'silence';

export const errorOf = ({ code, options }: AppError, retryAfter?: number): Response => {
  const { status, message } = ERRORS[code];
  const request_id = `req_${randomBase62(8)}`;
  const error = { code, message, request_id, ...(options.details && { details: options.details }) };
  const headers: Record<string, string> = retryAfter === undefined ? {} : { 'retry-after': `${retryAfter}` };
  return Response.json({ error }, { status, headers: { ...headers, 'x-request-id': request_id } });
};

const pageOf = ({ status, headers, body = '<h1>Log in to the network</h1>' }: Network & { network: 'page' }) =>
  typeof body === 'string'
    ? new Response(body, { status, headers: { 'content-type': 'text/html', ...headers } })
    : Response.json(body, { status, headers: headers ?? {} });

const changed = async (answer: Response, fields: Record<string, unknown>): Promise<Response> => {
  const body = (await answer.json()) as Record<string, unknown>;
  return Response.json({ ...body, ...fields }, { status: answer.status });
};

export const openNetwork = (clock: Clock, serve: (request: Request) => Promise<Response>) => {
  let present: Network = { network: 'up' };
  /** The first answer to each call. */
  const first = new Map<string, Response>();

  const next = (): Network => {
    const behavior = present;
    if (behavior.times === undefined) return behavior;
    const times = behavior.times - 1;
    present = times > 0 ? { ...behavior, times } : { network: 'up' };
    return behavior;
  };

  const ask = async (request: Request): Promise<Response> => {
    const { pathname } = new URL(request.url);
    const answer = await serve(request);
    if (!first.has(pathname)) first.set(pathname, answer.clone());
    return answer;
  };

  return {
    set: (network: Network): void => {
      if (!NETWORKS.includes(network.network)) throw new TypeError('The network doesn’t do that.');
      present = network;
    },

    deliver: async (request: Request): Promise<Delivery> => {
      const behavior = next();
      const { network } = behavior;
      if (network === 'down') return 'cut';
      if (network === 'hangs') return 'silence';
      if (network === 'page') return pageOf(behavior);
      if (network === 'error') return errorOf(new AppError(behavior.code), behavior.retry_after);
      const known = first.get(new URL(request.url).pathname);
      if (network === 'repeats' && known) return known.clone();
      const answer = await ask(request);
      if (network === 'loses_answers') return 'cut';
      if (network === 'changes') return changed(answer, behavior.fields);
      if (network === 'slow') await clock.wait(behavior.seconds * 1_000);
      return answer;
    },
  };
};
