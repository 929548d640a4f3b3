import type { Check } from './broken.ts';

interface Tallied {
  what: string;
  /** Whether a call was cut off, repeated or slow. It may have its effect without an answer, and once more at another place. */
  isTroubled: (name: string) => boolean;
  /** Whether a repeat may have another answer than the call that had the effect. */
  isJudgedAgain?: boolean;
}

/** How many of some calls must have had an effect, and how many may have had it. */
export const openTally = (check: Check, { what, isTroubled, isJudgedAgain = false }: Tallied) => {
  /** Whether each call has had the effect, by its answer. */
  const calls = new Map<string, boolean | null>();

  return {
    began: (name: string) => calls.set(name, null),
    answered: (name: string, hasEffect: boolean) => calls.set(name, hasEffect),

    /** How many have not had it, as far as it is known. */
    open: () => [...calls.values()].filter((hasEffect) => !hasEffect).length,

    check: (count: number) => {
      let [least, most] = [0, 0];
      for (const [name, hasEffect] of calls) {
        const isCertain = hasEffect !== null && !isTroubled(name);
        if (hasEffect && (isCertain || !isJudgedAgain)) least++;
        most += isCertain ? Number(hasEffect) : 2;
      }
      check(least <= count && count <= most, () => `there are ${count} ${what}, not ${least} to ${most}`);
    },
  };
};
