import type { PresentedKey } from '../gate/admission.ts';
import { gateOf } from '../gate/feed.ts';
import { readReply, type VerifyReply } from '../gate/replies.ts';

/** One call to the key's gate, which decides on the key and the license and counts. */
export const verifyLicense = async (env: Env, key: PresentedKey, licenseKey: string): Promise<VerifyReply> =>
  readReply(await gateOf(env, key.accountId).verify(key, licenseKey));
