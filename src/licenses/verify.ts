import { rememberKeyRefusal } from '../auth/refusals.ts';
import type { PresentedKey } from '../shared/presented-key.ts';
import { gateOf } from '../shared/objects.ts';
import { randomBase62 } from '../shared/random.ts';
import { readReply, type VerifyReply } from '../gate/replies.ts';

/** Verifies a license with a single call to the key's gate, which checks the key, checks the license and counts usage. */
export const verifyLicense = async (
  env: Env,
  key: PresentedKey,
  licenseKey: string,
): Promise<VerifyReply> => {
  const sentMs = Date.now();
  const reply = readReply(await gateOf(env, key.accountId).verify(key, licenseKey, randomBase62(12)));
  if (reply.refused !== null) rememberKeyRefusal(key, reply, sentMs);
  return reply;
};
