import { gateOf } from '../gate/feed.ts';
import type { Ctx } from '../http/context.ts';

/** When each key last called, which its gate counts. */
export const lastUsed = async ({ env, accountId }: Ctx) => {
  const used = await gateOf(env, accountId).keysLastUsedMs();
  return (keyId: string): number | null => used[keyId] ?? null;
};
