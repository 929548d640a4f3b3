import type { Context } from 'hono';
import * as z from 'zod';
import { etagOf, type Versioned } from '../db/versions.ts';
import type { AppEnv } from './context.ts';

export const ifMatch = z.string().meta({
  description: 'Makes the change only if the `ETag` is still the one that an earlier answer had.',
});

/** Names the version of what is answered. */
export const withEtag = <T extends Versioned>(c: Context<AppEnv>, answer: T): T => {
  c.header('ETag', etagOf(answer));
  return answer;
};
