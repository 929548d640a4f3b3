import { and, gte, lt, or, type SQL, type SQLWrapper } from 'drizzle-orm';
import type { SealingRing } from '../shared/crypto/sealing.ts';

/** The names of sealing keys have no dot, so the sealed secrets of each of them are a range, up to the next character. */
const rangeOf = (name: string) => [`${name}.`, `${name}/`] as const;

/** Secrets that have to be sealed again. */
export const isSealedOtherwise = (sealed: SQLWrapper, { current }: SealingRing): SQL | undefined => {
  const [from, to] = rangeOf(current);
  return or(lt(sealed, from), gte(sealed, to));
};

/** Secrets that can be unsealed. Others would be at the front of every page. */
export const isReadable = (sealed: SQLWrapper, { keys }: SealingRing): SQL | undefined =>
  or(
    ...[...keys.keys()].map((name) => {
      const [from, to] = rangeOf(name);
      return and(gte(sealed, from), lt(sealed, to));
    }),
  );
