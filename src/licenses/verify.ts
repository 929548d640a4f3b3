import type { PresentedKey } from '../shared/presented-key.ts';
import { gateOf } from '../shared/objects.ts';
import { readReply, type VerifyReply } from '../gate/replies.ts';

/** One call to the key's gate, which decides on the key and the license and counts. */
export const verifyLicense = async (env: Env, key: PresentedKey, licenseKey: string): Promise<VerifyReply> =>
  readReply(await gateOf(env, key.accountId).verify(key, licenseKey));
