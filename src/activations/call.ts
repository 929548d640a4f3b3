import { rememberKeyRefusal } from '../api-keys/refusals.ts';
import type { ApplicationVerdict } from '../gate/rules/application-verdict.ts';
import { askNearest, measured } from '../gate/worker/ask-nearest.ts';
import type { Wait } from '../gate/rules/traffic.ts';
import type { AnsweredIn, VerifyReply } from '../gate/rules/replies.ts';
import type { SeatCall } from '../gate/rules/seats.ts';
import type { Verdict } from '../gate/rules/verdict.ts';
import { askGate, branchOf, rememberEpoch } from '../shared/objects/address.ts';
import type { PresentedKey } from '../shared/rules/api-keys.ts';
import { randomBase62 } from '../shared/crypto/random.ts';
import type { Region } from '../shared/rules/regions.ts';
import type { ApplicationRequest } from '../gate/rules/calls.ts';

/** Whether the answer is that of an application's call. A plain verify of a license without terms has fewer fields. */
export const isOfApplication = (verdict: Verdict | ApplicationVerdict): verdict is ApplicationVerdict =>
  'code' in verdict;

/**
 * Makes one of an application's calls with a single call to the key's gate, or to its branch near the caller. `request` is
 * null for a plain verify, which needs no token unless the license has terms. `region` is the caller's, or null while
 * regions are off.
 */
export const callGate = async (
  env: Env,
  key: PresentedKey,
  call: SeatCall,
  licenseKey: string,
  request: ApplicationRequest | null,
  canSign: boolean,
  region: Region | null,
): Promise<VerifyReply & AnsweredIn> => {
  const sentMs = Date.now();
  const { accountId } = key;
  const callId = randomBase62(12);
  const askBranch = (near: Region, lastWait: Wait | null) => {
    const branch = branchOf(env, accountId, near);
    return request === null
      ? branch.verify(key, licenseKey, callId, canSign, lastWait)
      : branch.application(key, call, request, callId, lastWait);
  };
  const askHome = (lastWait: Wait | null) =>
    askGate(env, accountId, async (gate) =>
      request === null
        ? gate.verify(key, licenseKey, callId, canSign, region, lastWait)
        : gate.application(key, call, request, callId, region, lastWait),
    );
  // Only home takes, renews and releases seats, so the other calls save the hop through a branch. A branch could answer some
  // heartbeats, but they count nothing, so a branch that was replaced by another one wouldn't notice it.
  const reply = await measured(accountId, region, async (lastWait) =>
    askNearest(accountId, region, {
      branch: call === 'verify' ? async (near) => askBranch(near, lastWait) : null,
      home: () => askHome(lastWait),
    }),
  );
  rememberEpoch(accountId, reply);
  if (reply.refused !== null) rememberKeyRefusal(key, reply, sentMs);
  return reply;
};
