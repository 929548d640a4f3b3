import { unspent } from '../../../src/gate/rules/escrow.ts';
import { leaseMarginMs } from '../../../src/gate/rules/lease.ts';
import { newShare } from '../../../src/gate/rules/shares.ts';
import { RULES, type Rules } from './model-rules.ts';
import { SHORT_MS } from './model-steps.ts';

/** Rules that are broken on purpose. The model must notice each of them. */
export const BROKEN: Record<string, Partial<Rules>> = {
  'a branch counts its lease from the answer': { leaseStart: (_sentMs, answeredMs) => answeredMs },
  'a branch ends its lease without a margin': {
    renew: (lease, answer, applied) =>
      RULES.renew(lease, { ...answer, leaseMs: answer.leaseMs + leaseMarginMs(answer.leaseMs) }, applied),
  },
  'a lease holds without the changes that came with it': {
    renew: (lease, answer) => RULES.renew(lease, answer, Infinity),
    feedStep: () => 'ignore',
  },
  'home sends before it has committed': { sendsAfterCommit: false },
  'a change is answered before branches acknowledge it': { whoMustAck: () => [] },
  'home forgets its leases when it restarts': { leasedUntilAtStart: () => 0 },
  'a repeated change does not wait after a restart': { barrierAtStart: () => 0 },
  'home forgets a lease that is longer than the setting': {
    storedLeaseMs: () => SHORT_MS,
  },
  'home closes a branch before its last report': { closesAfterLastReport: false },
  'a process that was replaced renews a lease': { writesRenewals: false },
  'home takes changes for applied that its last answer told': { appliedAtRenewal: (_reported, sent) => sent },
  'a branch answers not_found': { answersNotFound: true },
  'a branch keeps a row that has changed meanwhile': { mayKeep: () => true },
  'a feed is applied over a gap or again': {
    feedStep: (applied, feed) => (feed && feed.through !== applied ? 'apply' : 'ignore'),
  },
  'a grant is larger than what remains': { grant: (_quota, _escrow, usedLately) => Math.max(40, usedLately) },
  'home does not count what it has granted': {
    exposure: ({ spent }) => spent,
    remaining: ({ limit, counted, escrows }) =>
      limit - counted - escrows.reduce((sum, { spent }) => sum + spent, 0),
  },
  'a grant has no period': {
    unspent: (escrow) => (escrow ? unspent(escrow, escrow.periodStartMs) : 0),
    escrowOf: (escrows) => escrows[0],
  },
  'a grant that is given back is merged twice': {
    mergeReport: (known, reported) => ({
      ...known,
      spent: Math.max(known.spent, reported.spent),
      returned: known.returned + reported.returned,
    }),
  },
  'home refuses a call without calling grants back': { isRecallable: () => false },
  'a branch goes on answering while it closes': { stopsBeforeClosing: false },
  'shares are raised before others are lowered': {
    share: (limit, branches) => {
      const used = branches.reduce((sum, branch) => sum + branch.usedLately, 0);
      return branches.map((branch) => (limit * 0.8 * (branch.usedLately + 1)) / (used + branches.length));
    },
  },
  'an offer is taken for in force only once it is confirmed': {
    homeShare: (limit, branches) =>
      limit - branches.reduce((sum, { confirmed }) => sum + confirmed.perSecond, 0),
  },
  'home forgets shares when it restarts': { shareAtStart: newShare },
  'home takes an offer for confirmed when it restarts': {
    shareAtStart: ({ offered }) => ({ offered, confirmed: offered }),
  },
  'a share outlives its lease': { endShare: newShare },
  'an outdated offer of a share replaces a newer one': {
    receiveShare: (_known, offer) => offer,
  },
  'events are deleted before the outbox has accepted them': { keepsEventsUntilAccepted: false },
  'home counts a call that its branch has counted': { tellsCounted: false },
  'a repeated call is answered elsewhere': { forwardsRepeats: false },
};
