import { isoDate } from '../../../shared/rules/dates.ts';
import type { PurchaseDetails } from '../../data/store-queries.ts';

type Fact = PurchaseDetails['facts'][number];

const TEXTS: Record<string, string> = {
  ordered: 'Ordered',
  paid: 'Paid',
  joined: 'The payment has another ID',
  linked: 'Belongs to this purchase',
  past_due: 'Payment overdue',
  ended: 'The subscription has ended',
  buyer: 'The buyer’s address is known',
};

const DISPUTES: Record<string, string> = {
  open: 'Disputed at the bank',
  won: 'The dispute was won',
  lost: 'The dispute was lost',
};

const untilOf = (details: Fact['details']): number | null => {
  const covers = details['covers'];
  const until = typeof covers === 'object' && covers !== null && 'untilMs' in covers ? covers.untilMs : null;
  return typeof until === 'number' ? until : null;
};

/** Says a fact in words. `format` writes a date. */
export const factText = ({ kind, details }: Fact, format: (date: string) => string): string => {
  if (kind === 'disputed') return DISPUTES[details['state'] as string] ?? 'Disputed at the bank';
  if (kind === 'refunded') {
    if (details['amount'] === 0) return 'A refund was reversed';
    return details['amount'] === null ? 'Refunded' : 'Refunded, in the reported amount';
  }
  if (kind === 'renews') return `Renews on ${format(isoDate(Number(details['untilMs'])))}`;
  const until = kind === 'paid' ? untilOf(details) : null;
  if (until !== null) return `Paid through ${format(isoDate(until))}`;
  return TEXTS[kind] ?? kind;
};
