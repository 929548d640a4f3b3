import { isoDate } from '../../shared/rules/dates.ts';
import { resolveTerms } from '../../shared/rules/terms.ts';
import { type ApplicationVerdict, toApplicationVerdict } from '../rules/application-verdict.ts';
import type { SeatClock } from '../object/seat-clock.ts';
import { decideVerdict } from '../rules/verdict.ts';
import type { BranchCopy } from './branch-copy.ts';
import { judgeNear } from '../rules/near.ts';
import type { Call } from '../rules/calls.ts';
import type { CopiedLicense } from '../rules/rows.ts';

const NO_TERMS = resolveTerms({}, {});

type Step = 'forward' | 'answer' | 'answer_and_note';

/** Judges the verifies of applications from the branch's copies. */
export const openBranchApplications = (copy: BranchCopy, clock: SeatClock) => {
  let judged: ApplicationVerdict | null = null;

  const isPlain = (license: CopiedLicense | null) => license === null || copy.termsOf(license) === null;

  return {
    isPlain,

    /** Decides whether the branch answers a verify itself, and whether home has to note that the machine was seen. */
    decide: ({ call, licenseKey, request }: Call, nowMs: number): Step => {
      const license = copy.findLicense(licenseKey);
      if (!license || call !== 'verify') return 'forward';
      const terms = copy.termsOf(license);
      if (request === null && terms === null) return 'answer';
      const { fingerprint } = request ?? {};
      const seatMs = clock.read(nowMs);
      const verdict = decideVerdict(license, isoDate(nowMs));
      const known = {
        license,
        verdict,
        terms: terms ?? NO_TERMS,
        request: request ?? { licenseKey },
        activation: fingerprint ? copy.activation(license, fingerprint) : null,
        used: copy.usedSeats(license, seatMs),
      };
      const near = judgeNear(known, seatMs);
      if (!near) return 'forward';
      judged = toApplicationVerdict(license, verdict, known.terms, near);
      return near.isSeen ? 'answer_and_note' : 'answer';
    },

    /** Returns the verdict of the call that was decided last, in the same turn. */
    judge: (): ApplicationVerdict => {
      if (!judged) throw new Error('A branch judges only calls that it has decided to answer.');
      return judged;
    },
  };
};
