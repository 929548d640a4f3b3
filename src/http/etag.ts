import type { Context } from 'hono';
import * as z from 'zod';
import type { Ctx } from '../db/ctx.ts';
import { AppError } from '../shared/app-error.ts';
import type { AppEnv } from './context.ts';

export const ifMatch = z.string().meta({
  description: 'Makes the change only if the `ETag` is still the one that an earlier answer had.',
});

/** A thing whose state is told by when it was last changed. A license also becomes `expired` without a change. */
interface Versioned {
  updated_at: string;
  status?: string;
}

const etagOf = ({ updated_at, status = '' }: Versioned): string =>
  `"${Date.parse(updated_at).toString(36)}${status && `-${status}`}"`;

/** Names the version of what is answered. */
export const withEtag = <T extends Versioned>(c: Context<AppEnv>, answer: T): T => {
  c.header('ETag', etagOf(answer));
  return answer;
};

/** A proxy that compresses an answer makes its ETag a weak one. */
const isListed = (etag: string, ifMatch: string): boolean =>
  ifMatch.split(',').some((listed) => ['*', etag, `W/${etag}`].includes(listed.trim()));

/** Refuses a change of another version than the one that the caller has seen, if the call names one in If-Match. */
export const requireVersion = ({ ifMatch }: Pick<Ctx, 'ifMatch'>, current: Versioned | null): void => {
  if (ifMatch === undefined) return;
  if (current === null || !isListed(etagOf(current), ifMatch)) throw new AppError('precondition_failed');
};
