import type { PresentedKey } from '../shared/presented-key.ts';
import type { KeyScope } from '../shared/rules/api-keys.ts';
import type { Region } from '../shared/rules/regions.ts';
import type { Admission, AdmissionControl } from './admission.ts';
import type { Call } from './answers.ts';
import type { Copy } from './copy.ts';
import type { Ledger } from './ledger.ts';
import { type ReplyText, type VerifyReply, writeReply } from './replies.ts';

interface Parts {
  copy: Pick<Copy, 'account'>;
  ledger: Ledger;
  admission: AdmissionControl;
  answerNow: (call: Call, nowMs: number) => VerifyReply;
  ensureKnown: (presented: PresentedKey, licenseKey: string | null) => Promise<boolean>;
  commit: () => Promise<void>;
}

/** Answers calls with an API key, once everything that they have counted is on disk. */
export const openCalls = ({ copy, ledger, admission, answerNow, ensureKnown, commit }: Parts) => ({
  /** Checks key, scope and rate limit. The usage limit applies to licensing calls only, see `announce`. */
  admit: async (presented: PresentedKey, needs: KeyScope): Promise<Admission> => {
    if (!(await ensureKnown(presented, null))) return { refused: 'unavailable' };
    const nowMs = Date.now();
    const admitted = admission.admit(presented, needs, nowMs);
    if (admitted.refused === null) {
      ledger.useKey(presented.keyId, nowMs);
      await commit();
    }
    return admitted;
  },

  /** Answers an application's call. `region` is the caller's. */
  answer: async (call: Call, region: Region | null): Promise<ReplyText> => {
    if (!(await ensureKnown(call.presented, call.licenseKey))) return writeReply({ refused: 'unavailable' });
    const reply = answerNow(call, Date.now());
    await commit();
    return writeReply(reply, region === null ? {} : { region: copy.account()?.homeRegion });
  },
});
