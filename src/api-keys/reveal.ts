import { gateOf } from '../shared/objects.ts';
import type { Ctx } from '../db/ctx.ts';
import { readConfig } from '../shared/config.ts';
import { unseal } from '../shared/sealing.ts';
import { findApiKey } from './find.ts';

export const revealApiKey = async (ctx: Ctx, id: string) => {
  const row = await findApiKey(ctx, id);
  const apiKey = await unseal(readConfig(ctx.env).sealing, row.sealed, [ctx.accountId, id]);
  const [lastUsedMs = null] = await gateOf(ctx.env, ctx.accountId).keysLastUsedMs([id]);
  return { row, apiKey, lastUsedMs };
};
