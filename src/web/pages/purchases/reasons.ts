import type { PurchaseDetails } from '../../data/store-queries.ts';

const REASONS: Record<string, string> = {
  no_offer: 'No offer says which product it is',
  not_paid: 'The store hasn’t reported a payment yet',
  nothing_named: 'The store hasn’t said what was bought',
  period_unknown: 'Its offer is for a subscription, but the store hasn’t said what period is paid for',
  license_limit_reached: 'The account is at its license limit',
  storage_limit_reached: 'The account is at its storage limit',
  account_suspended: 'The account is suspended',
  product_not_found: 'The product of its offer doesn’t exist',
  too_many_licenses: 'It would create more licenses than a purchase may',
  test_mode: 'It is a test purchase, and its store was set to create no licenses for these',
};

const MAIL_PROBLEMS: Record<string, string> = {
  no_address: 'Waits for the buyer’s address',
  account_suspended: 'Waits while the account is suspended',
  account_not_verified: 'Waits until your own email address is verified',
  nothing_to_send: 'None of its licenses is valid anymore',
  same_as_earlier: 'Would have repeated another one that was still waiting',
  not_delivered: 'Couldn’t be sent, and will be retried',
  limit_of_the_day: 'Waits until 24 hours after the first of today’s emails, because the plan allows no more',
};

/** Says why a purchase has no license, or not all of them. */
export const reasonText = (reason: string): string => REASONS[reason] ?? reason.replaceAll('_', ' ');

type Mail = PurchaseDetails['mails'][number];

/** Says what an email waits for, or why it was not sent. */
export const mailText = ({ status, problem }: Pick<Mail, 'status' | 'problem'>): string => {
  if (problem === 'not_delivered' && status === 'not_sent')
    return 'Couldn’t be sent, and was given up after eight tries';
  return problem === null ? '' : (MAIL_PROBLEMS[problem] ?? problem.replaceAll('_', ' '));
};
