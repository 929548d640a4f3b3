import { addDays, isoDate } from '../../shared/rules/dates.ts';
import type { SoldOffer, WantedLicense } from '../../shared/rules/sold-offer.ts';
import { DEFAULT_GRACE_DAYS, MAX_QUANTITY, type PurchaseStatus } from '../../shared/rules/stores.ts';
import type { PurchaseLine, Thing } from './facts.ts';
import { type KnownFact, ofKind, type Payment, paymentsOf } from './payments.ts';
import { numberAsHeld, type Slot, type SlotPayment, slotsOf } from './slots.ts';
import { hasEnded, isPastDue } from './subscriptions.ts';

// What a purchase's licenses are follows from the set of its facts, and from what its store's offers mean. Nothing else matters:
// not the order in which the facts came, nor how often, nor what the licenses are now. Only the slot of a license that exists
// follows from what it was made for.

export interface PurchaseBooks {
  facts: KnownFact[];
  /** What an id of the store means here. */
  offers: ReadonlyMap<string, SoldOffer>;
  /** By slot, the offer by which its licenses were made. It shows which slot is theirs, and holds for an id that no offer names anymore. */
  earlier: ReadonlyMap<number, SoldOffer>;
  /** The product that the seller has named for what no offer is for. */
  assigned: string | null;
  acceptsTest: boolean;
}

/** The licenses of a slot: those with a number below `kept` are as `wanted` says, and the others as `rest` does. */
export interface SlotDecision {
  slot: number;
  offer: SoldOffer;
  /** How many are made. */
  count: number;
  /** How many may exist. They are more than are made if the offer was for licenses before it was for seats. */
  kept: number;
  wanted: WantedLicense;
  rest: WantedLicense;
}

/**
 * Returns what a license of a slot is to be. One that a merge has shown to be one too many ends, whatever a refund does. The seats
 * are those of the licenses that are made, so any other keeps its own.
 */
export const wantedOf = (
  { count, kept, wanted, rest }: SlotDecision,
  { number, wanted: { isSurplus, status } }: { number: number; wanted: WantedLicense },
): WantedLicense => {
  if (number < count) return wanted;
  // Earlier releases have revoked without a note what was one too many.
  if (number < kept && !isSurplus && status !== 'revoked') return { ...wanted, seats: null };
  return isSurplus ? { ...rest, status: 'revoked', isSurplus } : rest;
};

export interface PurchaseDecision {
  status: PurchaseStatus;
  /** Why it has no license, or not all of them. */
  reason: string | null;
  orderNumber: string | null;
  email: string | null;
  name: string | null;
  buyerRef: Thing | null;
  isTest: boolean;
  slots: SlotDecision[];
  /** Whether licenses that don't exist yet are made. */
  isGiving: boolean;
  /** Whether licenses that exist keep their products, because one that they would get doesn't exist. */
  keepsProducts?: true;
}

const SEVERITY = { active: 0, suspended: 1, revoked: 2 } as const;
type Status = WantedLicense['status'];
const worse = (a: Status, b: Status): Status => (SEVERITY[a] > SEVERITY[b] ? a : b);
const AFTER = { revoke: 'revoked', suspend: 'suspended', nothing: 'active' } as const;

const assignedOffer = (product: string, payments: Payment[]): SoldOffer => ({
  product,
  grant: payments.some(({ through }) => through !== null) ? 'subscription' : 'perpetual',
  days: null,
  quantity: 'licenses',
  terms: {},
  graceDays: DEFAULT_GRACE_DAYS,
  onRefund: 'revoke',
  onDispute: 'suspend',
  mail: true,
});

/**
 * Whether an earlier line was for the same thing as the last one, which a store may sell at a new price by now. What costs nothing
 * is the same only if its price is.
 */
const isSame = (earlier: string[], last: string[], isFree: boolean): boolean =>
  isFree ? earlier.includes(last[0] ?? '') : last.some((ref) => earlier.includes(ref));

/**
 * Returns the offer for what was paid last, by any id that it has had. Refunded payments count only if no other payment is left, so
 * that refunding a change of plan undoes the change. A change to what no offer is for is as unmapped as its sale would be.
 */
const offerOf = ({ refs, slot, paid }: Slot, payments: Payment[], books: PurchaseBooks): SoldOffer | null => {
  const live = paid.filter(({ payment }) => payment.isLive);
  const isFree = (live.at(-1) ?? paid.at(-1))?.payment.amount === 0;
  const all = [...live.map(({ line }) => line.refs).toReversed(), ...refs].filter(({ length }) => length > 0);
  const last = all[0] ?? [];
  const first = paid[0]?.line.refs ?? last;
  // What was ordered may have other ids than what was paid, such as that of a payment link.
  const ordered = isSame(first, last, isFree) ? (refs.at(-1) ?? []) : [];
  const ids = [...all.filter((list) => isSame(list, last, isFree)).flat(), ...ordered];
  const named = ids.find((ref) => books.offers.has(ref));
  const offer = named === undefined ? undefined : books.offers.get(named);
  if (offer) return offer;
  const earlier = books.earlier.get(slot);
  // What a person has named is for what never had an offer.
  if (earlier?.ref !== undefined && ids.includes(earlier.ref)) return earlier;
  if (books.assigned !== null) return assignedOffer(books.assigned, payments);
  return earlier && earlier.ref === undefined ? earlier : null;
};

/** Returns a slot without its latest payments for what no offer is for. */
const offeredPart = (slot: Slot, payments: Payment[], books: PurchaseBooks) => {
  for (let count = slot.paid.length; count > 0; count--) {
    const paid = slot.paid.slice(0, count);
    const part = { ...slot, paid, refs: slot.refs.slice(slot.paid.length - count) };
    const offer = offerOf(part, payments, books);
    if (offer) return { slot: part, offer, isWhole: count === slot.paid.length };
  }
  return null;
};

/** Returns the last day of a slot's licenses, or undefined if what was paid is not known to cover any. */
const expiryOf = (offer: SoldOffer, paid: SlotPayment[]): string | null | undefined => {
  if (offer.grant === 'perpetual') return null;
  const days =
    offer.grant === 'days'
      ? paid.map(({ payment }) => addDays(isoDate(payment.atMs), offer.days ?? 0))
      : paid.flatMap(({ through }) => through ?? []);
  return days.toSorted().at(-1);
};

const decideSlot = (
  { slot, paid }: Slot,
  offer: SoldOffer,
  { isDisputed, isEnded }: { isDisputed: boolean; isEnded: boolean },
): SlotDecision | null => {
  const live = paid.filter(({ payment }) => payment.isLive);
  // Where nothing is left, the licenses stay as they were, but for what a refund does to them.
  const counted = live.length > 0 ? live : paid;
  const expiresAt = expiryOf(offer, counted);
  if (expiresAt === undefined) return null;
  const quantities = counted.map(({ line }) => line.quantity);
  const last = quantities.at(-1) ?? 1;
  const most = Math.max(...quantities);
  const refunded = AFTER[offer.onRefund];
  const disputed = isDisputed ? AFTER[offer.onDispute] : 'active';
  const wanted: WantedLicense = {
    status: worse(live.length > 0 ? 'active' : refunded, disputed),
    product: offer.product,
    expiresAt,
    graceDays: offer.grant === 'subscription' ? (isEnded ? 0 : offer.graceDays) : null,
    seats: offer.quantity === 'seats' ? last : null,
  };
  return {
    slot,
    offer,
    count: offer.quantity === 'seats' ? 1 : most,
    kept: most,
    wanted,
    rest: { ...wanted, status: worse(refunded, disputed) },
  };
};

const detailsOf = (facts: KnownFact[]) => {
  const named = [...ofKind(facts, 'paid'), ...ofKind(facts, 'ordered')]
    .map(({ fact }) => fact)
    .toSorted((a, b) => (a.atMs ?? 0) - (b.atMs ?? 0) || (a.about + a.kind < b.about + b.kind ? -1 : 1));
  const buyers = named.flatMap(({ buyer }) => buyer ?? []);
  const known = ofKind(facts, 'buyer').map(({ fact }) => fact);
  return {
    orderNumber: named.find(({ number }) => number !== undefined)?.number ?? null,
    email: buyers.find(({ email }) => email)?.email ?? known[0]?.email ?? null,
    name: buyers.find(({ name }) => name)?.name ?? known[0]?.name ?? null,
    buyerRef: buyers.find(({ ref }) => ref)?.ref ?? null,
    isTest: facts.some(({ fact }) => fact.isTest === true),
    ordered: named.find(({ kind, lines }) => kind === 'ordered' && lines !== undefined)?.lines ?? [],
  };
};

/** Returns the one word for a purchase: it has ended once all of its subscriptions have. */
const statusOf = (
  facts: KnownFact[],
  payments: Payment[],
  sold: { slot: Slot; offer: SoldOffer }[],
  isDisputed: boolean,
): PurchaseStatus => {
  if (isDisputed) return 'disputed';
  if (!payments.some(({ isLive }) => isLive)) return 'refunded';
  const slots = sold.map(({ slot }) => slot);
  const renewed = sold.filter(({ offer }) => offer.grant === 'subscription');
  if (renewed.length > 0 && renewed.every(({ slot }) => hasEnded(facts, slot))) return 'ended';
  return isPastDue(facts, payments, slots) ? 'past_due' : 'fulfilled';
};

/** Returns what a purchase's facts make of it. */
export const decidePurchase = (books: PurchaseBooks): PurchaseDecision => {
  const { facts } = books;
  const { ordered, ...details } = detailsOf(facts);
  const payments = paymentsOf(facts);
  const nothing = (status: PurchaseStatus, reason: string, slots: SlotDecision[] = []): PurchaseDecision => ({
    ...details,
    status,
    reason,
    slots,
    isGiving: false,
  });
  // What has licenses already goes on, also if the store has accepted tests only before, or is deleted.
  const isBarred = details.isTest && !books.acceptsTest;
  if (isBarred && books.earlier.size === 0) return nothing('pending', 'test_mode');
  if (payments.length === 0) return nothing('pending', 'not_paid');
  const slots = numberAsHeld(slotsOf(payments, ordered), books.earlier);
  if (slots.length === 0) return nothing('pending', 'nothing_named');
  const isDisputed = ofKind(facts, 'disputed').some(({ fact }) => fact.state === 'open');
  const offered = slots.map((slot) => offeredPart(slot, payments, books));
  const decided = offered.map(
    (part) => part && decideSlot(part.slot, part.offer, { isDisputed, isEnded: hasEnded(facts, part.slot) }),
  );
  const known = decided.filter((slot) => slot !== null);
  if (offered.some((part) => !part?.isWhole)) return nothing('unmapped', 'no_offer', known);
  if (known.length < decided.length) return nothing('pending', 'period_unknown', known);
  if (known.reduce((sum, { count }) => sum + count, 0) > MAX_QUANTITY)
    return nothing('failed', 'too_many_licenses', known);
  const sold = offered.filter((part) => part !== null);
  const status = statusOf(facts, payments, sold, isDisputed);
  return { ...details, status, reason: null, slots: known, isGiving: !isBarred };
};

/** The store's customer, whose address a fact of their own may tell. */
export const buyerRefOf = (facts: KnownFact[]): Thing | null => detailsOf(facts).buyerRef;

/** The ids for which offers are read. */
export const refsOf = (facts: KnownFact[]): string[] => {
  const lines = facts.flatMap(({ fact }): PurchaseLine[] => ('lines' in fact ? (fact.lines ?? []) : []));
  return [...new Set(lines.flatMap(({ refs }) => refs))];
};
