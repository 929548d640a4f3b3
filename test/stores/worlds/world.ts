import type { StoreFact } from '../../../src/purchases/rules/facts.ts';

// A subscription at a store: what became of it, what the store sent about it, and what its API tells in the end.

export interface StoreHistory {
  isRenewed: boolean;
  /** What was given back: a part of the first payment, all of it, or all of the renewal. */
  refund: 'none' | 'part' | 'first' | 'second';
  isPastDue: boolean;
  isOver: boolean;
  /** What comes after the end, at a store where a subscription that has ended can begin anew. */
  restart?: 'restarted' | 'over again' | undefined;
  dispute: 'none' | 'open' | 'won';
}

export interface Notice {
  body: unknown;
  topic?: string;
  /** What the API answers while this is the newest notice, for a provider that is asked about each. */
  told?: () => Promise<StoreFact[]>;
}

export interface StoreWorld {
  notices: Notice[];
  key: string;
  /** What the double of the API answers after all of it, by the beginning of the path. */
  answers: Record<string, unknown>;
  /** What the store can't tell: it has no such state, or nobody is told. */
  lacks?: ('dispute' | 'isPastDue')[];
  canRestart?: true;
}

export const SOLD_AT = '2027-01-10T12:00:00Z';
export const RENEWED_AT = '2027-02-10T12:00:00Z';
export const NEXT_AT = '2027-03-10T12:00:00Z';
/** When one that has ended begins anew, and when that has ended. */
export const RESTARTED_AT = '2027-04-01T12:00:00Z';
export const OVER_AGAIN_AT = '2027-05-01T12:00:00Z';
/** When something became of the payments, one after the other. */
export const LATER_AT = ['2027-02-11', '2027-02-12', '2027-02-13', '2027-02-14', '2027-02-15'].map(
  (day) => `${day}T12:00:00Z`,
);

/** Leaves out of a history what the store can't tell. */
export const possible = (past: StoreHistory, { lacks = [], canRestart }: StoreWorld): StoreHistory => ({
  ...past,
  ...(!(canRestart && past.isOver) && { restart: undefined }),
  ...(lacks.includes('dispute') && { dispute: 'none' }),
  ...(lacks.includes('isPastDue') && { isPastDue: false }),
});

const statusOf = ({ dispute }: StoreHistory, paid: string[]): 'active' | 'suspended' | 'revoked' => {
  if (paid.length === 0) return 'revoked';
  return dispute === 'open' ? 'suspended' : 'active';
};

export const isOver = (past: StoreHistory): boolean => past.isOver && past.restart !== 'restarted';

/** What a history makes of the license, by its own words. */
export const expectedOf = (past: StoreHistory) => {
  const first = past.refund === 'first' ? [] : [RENEWED_AT];
  const second = past.isRenewed && past.refund !== 'second' ? ['2027-03-10'] : [];
  const third = past.restart === undefined ? [] : [OVER_AGAIN_AT];
  const paid = [...first, ...second, ...third].map((day) => day.slice(0, 10));
  return {
    status: statusOf(past, paid),
    expiresAt: paid.at(-1) ?? '2027-02-10',
    graceDays: isOver(past) ? 0 : 7,
    isPastDue: past.isPastDue && second.length === 0,
  };
};
