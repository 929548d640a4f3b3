import { rememberKeyRefusal } from '../api-keys/refusals.ts';
import type { AnsweredIn, Reply } from '../gate/rules/calls.ts';
import type { Wait } from '../gate/rules/traffic.ts';
import { askNearest } from '../gate/worker/nearest.ts';
import { randomBase62 } from '../shared/crypto/random.ts';
import { askGate, branchOf, rememberEpoch } from '../shared/objects/address.ts';
import type { PresentedKey } from '../shared/rules/api-keys.ts';
import type { Region } from '../shared/rules/regions.ts';
import type { CallInput, CallName } from '../shared/rules/verdict.ts';

interface Asked {
  name: CallName;
  input: CallInput;
  /** A verify with nothing but a license key needs no token, unless the license has terms. */
  isPlain: boolean;
  canSign: boolean;
}

/**
 * Makes one of an application's calls with a single call to the key's gate, or to its branch near the caller. `region` is the
 * caller's, or null while regions are off.
 */
export const callGate = async (
  env: Env,
  key: PresentedKey,
  { name, input, isPlain, canSign }: Asked,
  region: Region | null,
): Promise<Reply & AnsweredIn> => {
  const sentMs = Date.now();
  const { accountId } = key;
  const { license_key } = input;
  const callId = randomBase62(12);
  const askBranch = (near: Region, lastWait: Wait | null) => {
    const branch = branchOf(env, accountId, near);
    return isPlain
      ? branch.verify(key, license_key, callId, canSign, lastWait)
      : branch.application(key, name, input, callId, lastWait);
  };
  const askHome = (lastWait: Wait | null, isUncertain: boolean) =>
    askGate(env, accountId, async (gate) =>
      isPlain
        ? gate.verify(key, license_key, callId, canSign, region, lastWait, isUncertain)
        : gate.application(key, name, input, callId, region, lastWait, isUncertain),
    );
  // Only home takes, renews and releases seats, so the other calls save the hop through a branch. A branch could answer some
  // heartbeats, but they count nothing, so a branch that was replaced by another one wouldn't notice it.
  const reply = await askNearest(accountId, region, {
    branch: name === 'verify' ? askBranch : null,
    home: askHome,
  });
  rememberEpoch(accountId, reply);
  if (reply.refused !== null) rememberKeyRefusal(key, reply, sentMs);
  return reply;
};
