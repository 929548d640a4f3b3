import type { PurchaseLine } from './facts.ts';
import type { Payment } from './payments.ts';

// What a purchase is for. Each line that was ever paid has a slot, in which its licenses are. A renewal's lines are found again
// by their ids; one that has another id takes a place that is left, so that a change of plan keeps its license.

export interface SlotPayment {
  payment: Payment;
  line: PurchaseLine;
}

export interface Slot {
  slot: number;
  /** The payments that were for it, the oldest first. */
  paid: SlotPayment[];
  /** Ids that an offer can be for, those of the newest line first. */
  refs: string[][];
}

const byRef = (a: PurchaseLine, b: PurchaseLine): number => ((a.refs[0] ?? '') < (b.refs[0] ?? '') ? -1 : 1);

/** Lines of the same thing are one. */
const tidy = (lines: PurchaseLine[]): PurchaseLine[] =>
  [...Map.groupBy(lines, ({ refs }) => JSON.stringify(refs)).values()]
    .flatMap(([first, ...others]) =>
      first
        ? { refs: first.refs, quantity: others.reduce((sum, { quantity }) => sum + quantity, first.quantity) }
        : [],
    )
    .toSorted(byRef);

/** Finds the slot of each line among those that there are, or adds one. */
const place = (slots: PurchaseLine[], lines: PurchaseLine[]): Map<number, PurchaseLine> => {
  const placed = new Map<number, PurchaseLine>();
  const isFree = (i: number) => !placed.has(i);
  const left = tidy(lines).filter((line) => {
    const at = slots.findIndex(
      ({ refs }, i) => isFree(i) && refs[0] !== undefined && refs[0] === line.refs[0],
    );
    if (at !== -1) placed.set(at, line);
    return at === -1;
  });
  for (const line of left) {
    const free = slots.findIndex((_, i) => isFree(i));
    const at = free === -1 ? slots.length : free;
    // A renewal may say only how many.
    placed.set(at, line.refs.length === 0 ? { ...line, refs: slots[at]?.refs ?? [] } : line);
  }
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

/** Returns the slots of payments in their order. `ordered` is what an order or a subscription says that it is for. */
export const slotsOf = (payments: Payment[], ordered: PurchaseLine[]): Slot[] => {
  const first = payments.find(({ lines }) => lines?.some(({ refs }) => refs.length > 0))?.lines;
  const current: PurchaseLine[] = tidy(ordered.length > 0 ? ordered : (first ?? []));
  const slots: Slot[] = current.map(({ refs }, slot) => ({ slot, paid: [], refs: [refs] }));
  let last: Map<number, PurchaseLine> = new Map(current.entries());
  for (const payment of payments) {
    const { lines, areChanges } = payment;
    const placed =
      lines === null ? last : place(current, areChanges ? change([...last.values()], lines) : lines);
    for (const [slot, line] of placed) {
      slots[slot] ??= { slot, paid: [], refs: [] };
      slots[slot].paid.push({ payment, line });
      slots[slot].refs.unshift(line.refs);
      current[slot] = line;
    }
    last = placed;
  }
  return slots.filter(({ paid, refs }) => paid.length > 0 && refs.some((list) => list.length > 0));
};
