import type { Offer } from '../../data/store-queries.ts';
import { plural } from '../../lib/format.ts';

export const GRANT_NAMES: Record<Offer['grant'], string> = {
  perpetual: 'A license that never expires',
  days: 'A license for a number of days',
  subscription: 'A license while the subscription is paid',
};

export const grantText = ({ grant, days }: Pick<Offer, 'grant' | 'days'>): string => {
  if (grant === 'days') return plural(days ?? 0, 'day');
  return grant === 'perpetual' ? 'Never expires' : 'While it is paid';
};

const REFUND_TEXTS: Record<Offer['on_refund'], string> = {
  revoke: 'Revokes',
  suspend: 'Suspends',
  nothing: 'Changes nothing',
};

export const refundText = (action: Offer['on_refund']): string => REFUND_TEXTS[action];

/** What a purchase of this offer will make, in a sentence. */
export const previewOf = (
  offer: Pick<Offer, 'product' | 'grant' | 'days' | 'quantity' | 'grace_days' | 'mail'>,
): string => {
  const { product, grant, days, quantity, grace_days: grace, mail } = offer;
  if (product === '') return 'Choose a product to see what a purchase will create.';
  const term = {
    perpetual: 'that never expires',
    days: `that is valid for ${plural(days ?? 0, 'day')} from the purchase`,
    subscription: `that is valid through the last paid day${grace > 0 ? `, and ${plural(grace, 'day')} more` : ''}`,
  }[grant];
  const many =
    quantity === 'licenses'
      ? 'A quantity of three creates three of them.'
      : 'A quantity of three creates one with three seats.';
  return `A purchase creates a license for ${product} ${term}. ${many} ${
    mail ? 'The buyer gets the key by email.' : 'The buyer gets no email.'
  }`;
};
