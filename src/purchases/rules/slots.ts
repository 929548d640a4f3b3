import { isoDate, laterDate } from '../../shared/rules/dates.ts';
import type { PurchaseLine, Thing } from './facts.ts';
import type { Payment } from './payments.ts';

// What a purchase is for. Each line that was ever paid has a slot, in which its licenses are. A renewal's lines are found again
// by their ids and subscriptions; one that has another id takes the place of what it replaces or else one that is left, so that a
// change of plan keeps its license.

export interface SlotPayment {
  payment: Payment;
  line: PurchaseLine;
  /** The last day that is paid of the line. */
  through: Payment['through'];
  /** What is renewed. Null if that is unknown. */
  subscription: Thing | null;
}

export interface Slot {
  slot: number;
  /** The payments that were for it, the oldest first. */
  paid: SlotPayment[];
  /** Ids that an offer can be for, those of the newest line first. */
  refs: string[][];
}

const byRef = (a: PurchaseLine, b: PurchaseLine): number => ((a.refs[0] ?? '') < (b.refs[0] ?? '') ? -1 : 1);

/** Lines of the same thing are one, unless they are of two subscriptions. */
const tidy = (lines: PurchaseLine[]): PurchaseLine[] =>
  [...Map.groupBy(lines, ({ refs, subscription }) => JSON.stringify([refs, subscription])).values()]
    .flatMap((same) => {
      const [first] = same;
      const quantity = same.reduce((sum, line) => sum + line.quantity, 0);
      return first ? { ...first, quantity } : [];
    })
    .toSorted(byRef);

const isSameRef = (a: PurchaseLine, b: PurchaseLine): boolean =>
  a.refs[0] !== undefined && a.refs[0] === b.refs[0];
const isSameOwner = (a: PurchaseLine, b: PurchaseLine): boolean => a.subscription === b.subscription;
const hasNoOwner = ({ subscription }: PurchaseLine): boolean => subscription === undefined;

/** What a slot was last for, and the last day that any payment covers of it. */
interface Place extends PurchaseLine {
  through: string;
}

type Sign = (line: PurchaseLine, place: Place) => boolean;

const isInstead: Sign = ({ instead = [] }, { refs }) => instead.some((ref) => refs.includes(ref));

/** Whether it is known what a line replaces. The payment for that may be one that hasn't been told yet. */
const isSettled = ({ instead }: PurchaseLine, known: ReadonlySet<string>): boolean =>
  instead !== undefined && (instead.length === 0 || instead.some((ref) => known.has(ref)));

/** What shows that a line goes on with another one, the surest first. */
const SIGNS: Sign[] = [
  (line, earlier) => isSameRef(line, earlier) && isSameOwner(line, earlier),
  (line, earlier) => isSameRef(line, earlier) && (hasNoOwner(line) || hasNoOwner(earlier)),
  isInstead,
];

/** What shows it where nothing speaks against it. */
const HINTS: Sign[] = [isSameOwner, isSameRef, () => true];

/** Finds the slot of each line among those that there are, or adds one. Of several, the one that is paid shortest is left first. */
const place = (places: Place[], lines: PurchaseLine[], fromMs: number | null): Map<number, PurchaseLine> => {
  const placed = new Map<number, PurchaseLine>();
  const byEnd = [...places.entries()].toSorted(([, a], [, b]) => a.through.localeCompare(b.through));
  let left = tidy(lines);
  // Where it is known what a line replaces, it replaces nothing else that is still paid, and nothing at all if it was added.
  const known = new Set(places.flatMap(({ refs }) => refs));
  const settled = new Set(left.filter((line) => isSettled(line, known)));
  const day = isoDate(fromMs ?? 0);
  const isLeft: Sign = (line, { through }) =>
    !settled.has(line) || (line.instead?.length !== 0 && through <= day);
  const ifLeft = (isHint: Sign): Sign => {
    return (line, one) => isLeft(line, one) && isHint(line, one);
  };
  for (const isSign of [...SIGNS, ...HINTS.map(ifLeft)])
    left = left.filter((line) => {
      const [at, earlier] = byEnd.find(([i, one]) => !placed.has(i) && isSign(line, one)) ?? [];
      if (at === undefined || earlier === undefined) return true;
      // A renewal may say only how many.
      placed.set(at, line.refs.length === 0 ? { ...line, refs: earlier.refs } : line);
      return false;
    });
  // The last line gets the next slot: an earlier release placed only that one, and its license has this number.
  for (const [i, line] of left.toReversed().entries()) placed.set(places.length + i, line);
  return placed;
};

/** Adds the difference that a payment was for to what the payment before it was for. */
const change = (before: PurchaseLine[], changes: PurchaseLine[]): PurchaseLine[] => {
  const isOf = (line: PurchaseLine) => (one: PurchaseLine) => one.refs[0] === line.refs[0];
  const kept = before.map((line) => {
    const added = changes.filter(isOf(line)).reduce((sum, { quantity }) => sum + quantity, 0);
    return { ...line, quantity: line.quantity + added };
  });
  const isNew = (line: PurchaseLine) => !before.some(isOf(line));
  return [...kept, ...changes.filter(isNew)].filter(({ quantity }) => quantity > 0);
};

type Placed = ReadonlyMap<number, PurchaseLine>;

/** Returns what a payment is for that doesn't say it: what was paid last, of its own subscription if it names one. */
const goesOn = ({ subscription }: Payment, last: Placed, current: PurchaseLine[]): Placed => {
  if (subscription === null) return last;
  const ofLast = [...last].filter(([, line]) => line.subscription === subscription);
  const known = ofLast.length > 0 ? ofLast : [...current.entries()];
  const own = known.filter(([, line]) => line.subscription === subscription);
  return own.length > 0 ? new Map(own) : last;
};

const toSlotPayment = (payment: Payment, line: PurchaseLine): SlotPayment => {
  const subscription = payment.subscription ?? line.subscription ?? null;
  const through = payment.throughOf({ ...line, ...(subscription !== null && { subscription }) });
  return { payment, line, through, subscription };
};

/**
 * Returns the lines that are paid once a payment has come, or null if it names none. A store that reports a subscription only as it
 * is by now also names lines that were added later, which are left out.
 */
const paidWith = (
  { lines, areChanges, billed }: Payment,
  last: Placed,
  current: PurchaseLine[],
): PurchaseLine[] | null => {
  if (lines === null || billed === null) return lines;
  if (areChanges) return change([...last.values()], lines);
  const known = new Set(current.map(({ refs }) => refs[0]));
  const isBilled = ({ refs }: PurchaseLine) => billed.has(refs[0] ?? '');
  return lines.some(isBilled) ? lines.filter((line) => isBilled(line) || known.has(line.refs[0])) : lines;
};

/** Leaves out the lines that a change didn't bill. If what it billed isn't among the lines, all of them count. */
const billedOf = ({ billed, areChanges }: Payment, placed: Placed, slots: Slot[]): Placed => {
  if (billed === null) return placed;
  const isBilled = ([slot, { refs }]: [number, PurchaseLine]) =>
    slots[slot] === undefined || billed.has(refs[0] ?? '');
  const own = new Map([...placed].filter(isBilled));
  return own.size > 0 || areChanges ? own : placed;
};

/** The end of a line's period is that of one payment only. */
const withoutEnd = ({ refs, quantity, subscription }: PurchaseLine): PurchaseLine => ({
  refs,
  quantity,
  ...(subscription !== undefined && { subscription }),
});

/** Returns the slots of payments in their order. `ordered` is what an order or a subscription says that it is for. */
export const slotsOf = (payments: Payment[], ordered: PurchaseLine[]): Slot[] => {
  const first = payments.find(({ lines }) => lines?.some(({ refs }) => refs.length > 0))?.lines;
  const current = tidy(ordered.length > 0 ? ordered : (first ?? [])).map((line): Place => ({
    ...withoutEnd(line),
    through: '',
  }));
  const slots: Slot[] = current.map(({ refs }, slot) => ({ slot, paid: [], refs: [refs] }));
  let last: Placed = new Map(current.entries());
  for (const payment of payments) {
    const lines = paidWith(payment, last, current);
    const placed = lines === null ? goesOn(payment, last, current) : place(current, lines, payment.fromMs);
    for (const [slot, line] of billedOf(payment, placed, slots)) {
      slots[slot] ??= { slot, paid: [], refs: [] };
      const paid = toSlotPayment(payment, line);
      slots[slot].paid.push(paid);
      slots[slot].refs.unshift(line.refs);
      const through = laterDate(current[slot]?.through ?? '', paid.through ?? '');
      current[slot] = { ...withoutEnd(line), through };
    }
    last = new Map([...placed].map(([slot, line]) => [slot, withoutEnd(line)]));
  }
  return slots.filter(({ paid, refs }) => paid.length > 0 && refs.some((list) => list.length > 0));
};

/**
 * Gives each slot the number of the license that was made for it, which an earlier release, or fewer facts, may have numbered
 * differently. Licenses that fit the fewest slots choose first, and each keeps its own number if it can.
 */
export const numberAsHeld = (slots: Slot[], held: ReadonlyMap<number, { ref?: string }>): Slot[] => {
  const numbered = slots.map((slot) => ({ ...slot }));
  const named = numbered.flatMap((slot) => [...new Set(slot.refs.flat())].map((ref) => ({ ref, slot })));
  const byRef = Map.groupBy(named, ({ ref }) => ref);
  const choices = [...held]
    .map(([number, { ref = '' }]) => ({ number, fitting: byRef.get(ref) ?? [] }))
    .toSorted((a, b) => a.fitting.length - b.fitting.length || a.number - b.number);
  const settled = new Set<Slot>();
  for (const { number, fitting } of choices) {
    const left = fitting.map(({ slot }) => slot).filter((slot) => !settled.has(slot));
    const found = left.find(({ slot }) => slot === number) ?? left[0];
    if (!found) continue;
    const other = numbered.find(({ slot }) => slot === number);
    if (other) other.slot = found.slot;
    found.slot = number;
    settled.add(found);
  }
  return numbered.toSorted((a, b) => a.slot - b.slot);
};
