import { AppError } from '../shared/app-error.ts';
import type { Ctx } from './ctx.ts';

/** A thing whose state is told by when it was last changed. A license also becomes `expired` without a change. */
export interface Versioned {
  updated_at: string;
  status?: string;
}

export const etagOf = ({ updated_at, status = '' }: Versioned): string =>
  `"${Date.parse(updated_at).toString(36)}${status && `-${status}`}"`;

/** A proxy that compresses an answer makes its ETag a weak one. */
const isListed = (etag: string, ifMatch: string): boolean =>
  ifMatch.split(',').some((listed) => ['*', etag, `W/${etag}`].includes(listed.trim()));

/** Refuses a change of another version than the one that the caller has seen, if the call names one in If-Match. */
export const requireVersion = ({ ifMatch }: Pick<Ctx, 'ifMatch'>, current: Versioned | null): void => {
  if (ifMatch === undefined) return;
  if (current === null || !isListed(etagOf(current), ifMatch)) throw new AppError('precondition_failed');
};
