import type { Context } from 'hono';
import * as z from 'zod';
import type { Ctx } from '../db/ctx.ts';
import { AppError } from '../shared/app-error.ts';
import { sha256 } from '../shared/crypto/hash.ts';
import type { AppEnv } from './context.ts';

export const IDEMPOTENCY_KEY = 'idempotency-key';
/** The header of an answer to a repeat. */
const IDEMPOTENCY_REPLAYED = 'Idempotency-Replayed';

export const idempotencyKey = z
  .string()
  .regex(/^[\x21-\x7e]{1,255}$/, 'must be 1 to 255 visible ASCII characters')
  .meta({
    description:
      'A retry with the same key within 24 hours changes nothing more, and returns what the first call changed.',
  });

const refuse = (message: string) =>
  new AppError('invalid_request', { details: [{ path: IDEMPOTENCY_KEY, message }] });

/** A client that sends the header relies on it, so a route that would ignore it refuses it. */
export const refuseIdempotencyKey = ({ req }: Context<AppEnv>): void => {
  if (req.method !== 'POST' && req.method !== 'PATCH') return;
  if (req.raw.headers.has(IDEMPOTENCY_KEY)) throw refuse('is not supported by this endpoint');
};

/** The context of a request whose inputs were read, with its Idempotency-Key. */
export const withIdempotency = (c: Context<AppEnv>, routeId: string): Ctx => {
  const key = c.req.header(IDEMPOTENCY_KEY);
  if (key === undefined) return c.var.ctx;
  const { error } = idempotencyKey.safeParse(key);
  if (error) throw refuse(error.issues.map(({ message }) => message).join(', '));
  // The body as it was read, so that neither the order of its fields nor unknown ones matter.
  const body = JSON.stringify(c.req.valid('json' as never)) ?? '';
  // A create has no id in its path. Claims of earlier releases are creates, and have only the body.
  const request = routeId === 'createLicense' ? body : `${c.req.method} ${c.req.path}\n${body}`;
  const onRepeat = () => c.header(IDEMPOTENCY_REPLAYED, 'true');
  return { ...c.var.ctx, idempotency: { key, requestHash: sha256(request), atMs: Date.now(), onRepeat } };
};
