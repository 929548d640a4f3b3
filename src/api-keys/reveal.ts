import { auditRead } from '../audit/reads.ts';
import type { Ctx } from '../db/ctx.ts';
import { settingsOf } from '../shared/config/settings.ts';
import { unseal } from '../shared/crypto/sealing.ts';
import { gateOf } from '../shared/objects/address.ts';
import { findApiKey } from './find.ts';

export const revealApiKey = async (ctx: Ctx, id: string) => {
  const row = await findApiKey(ctx, id);
  // Before the answer, so that no key is revealed without an entry.
  await auditRead(ctx, 'api_key.reveal', id);
  const apiKey = await unseal(settingsOf(ctx.env).sealing, row.sealed, [ctx.accountId, id]);
  const [lastUsedMs = null] = await gateOf(ctx.env, ctx.accountId).keysLastUsedMs([id]);
  return { row, apiKey, lastUsedMs };
};
