import { addDays, isoDate } from '../../shared/rules/dates.ts';
import type { Thing } from './facts.ts';
import { isSubscription } from './lines.ts';
import { type KnownFact, ofKind, type Payment } from './payments.ts';
import type { Slot } from './slots.ts';

// What has become of the subscriptions of a purchase. It may have several, each with a period and an end of its own. Where nothing
// tells which of them a line is of, what is said of any of them counts.

const isAbout = (thing: Thing, subscription: Thing | null): boolean =>
  subscription === null || !isSubscription(thing) || thing === subscription;

/** Whether the subscription is over that a slot was last paid for. */
export const hasEnded = (facts: KnownFact[], { paid }: Slot): boolean =>
  ofKind(facts, 'ended').some(({ fact, takenAtMs }) => {
    const endedMs = fact.atMs ?? takenAtMs;
    const isTakenBack = paid.some(({ payment }) => payment.takesBackEnd && payment.atMs > endedMs);
    return !isTakenBack && isAbout(fact.about, paid.at(-1)?.subscription ?? null);
  });

/** Whether a payment is overdue: neither it nor, for a subscription, one that covers a later day was paid. */
export const isPastDue = (facts: KnownFact[], payments: Payment[], slots: Slot[]): boolean => {
  const over = new Set(ofKind(facts, 'ended').map(({ fact }) => fact.about));
  const live = payments.filter(({ isLive }) => isLive);
  const covered = slots.flatMap(({ paid }) => paid).filter(({ payment }) => payment.isLive);
  return ofKind(facts, 'past_due').some(({ fact, takenAtMs }) => {
    const { about, atMs, untilMs } = fact;
    // Nothing is due anymore of what is over, while another subscription lives.
    if ([about, ...(fact.with ?? [])].some((thing) => over.has(thing))) return false;
    if (live.some(({ names }) => names.has(about))) return false;
    const isOfWhole = about.startsWith('order/') || isSubscription(about);
    if (isOfWhole || untilMs !== undefined) {
      const day = untilMs === undefined ? addDays(isoDate(atMs ?? takenAtMs), 1) : isoDate(untilMs);
      return !covered
        .filter(({ subscription }) => isAbout(about, subscription))
        .some(({ through }) => typeof through === 'string' && through >= day);
    }
    return atMs === undefined || !live.some((payment) => payment.atMs > atMs);
  });
};
