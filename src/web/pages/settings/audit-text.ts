// What the audit log's entries say, in words.
import type { AuditAction } from '../../../shared/rules/audit.ts';
import { describeUserAgent } from '../../../shared/rules/user-agent.ts';
import type { AuditEntry, SessionBody } from '../../data/settings-queries.ts';
import { capitalize } from '../../lib/format.ts';

/** Actions whose names don't follow from a noun and a verb. */
const TEXTS: Partial<Record<AuditAction, string>> = {
  register: 'Account created',
  login: 'Signed in',
  logout: 'Signed out',
  'password.reset': 'Password reset',
  'email.verify': 'Email address verified',
  'email.request_change': 'Email address change requested',
  'email.change': 'Email address changed',
  'email.restore': 'Email address taken back',
  'two_factor.enable': 'Two-factor authentication turned on',
  'two_factor.disable': 'Two-factor authentication turned off',
  'recovery_code.replace': 'Recovery codes replaced',
  'two_factor.fail': 'Wrong codes at sign-in',
  'session.fail': 'Wrong passwords or codes inside the account',
  'two_factor.request_reset': 'Two-factor authentication reset requested',
  'two_factor.reset': 'Two-factor authentication reset',
  'account.move': 'Home region changed',
  'account.erase': 'Account deletion requested',
  'account.backup': 'Account backed up',
  'account.list_orphans': 'Orphaned rows listed',
  'account.drop_orphans': 'Orphaned rows dropped',
  'account.move_database': 'Moved to another database',
  'license.rotate_key': 'License key replaced',
  'license.import': 'Licenses imported',
  'license.reveal_key': 'License key shown',
  'activation.release': 'Seat released',
  'customer.sign_in': 'Signed in to the portal',
  'customer.sign_out': 'Signed out of the portal',
  'customer.send_keys': 'License keys sent',
  'customer.request_email_change': 'Customer’s address change requested',
  'customer.change_email': 'Customer’s address changed',
  'portal.open': 'Portal link created',
  'product.put': 'Product saved',
  'product.update_mail': 'Email to buyers saved',
  'product.test_mail': 'Email to buyers tested',
  'webhook.rotate_secret': 'Webhook secret rotated',
  'webhook.test': 'Test event sent',
  'webhook.resend': 'Delivery resent',
  'webhook.replay': 'Missed events sent',
  'offer.put': 'Offer saved',
  'purchase.retry': 'Purchase retried',
  'purchase.resend_mail': 'Email to the buyer sent again',
  'subscription.cancel': 'Subscription canceled',
  'service.backup': 'Service backed up',
};

/** Describes an action in words, for example as "API key created". */
export const actionText = (action: AuditAction): string => {
  const [noun = '', verb = ''] = action.split('.');
  const words = noun === 'api_key' ? 'API key' : noun.replaceAll('_', ' ');
  return TEXTS[action] ?? capitalize(`${words} ${verb}${verb.endsWith('e') ? 'd' : 'ed'}`);
};

const ACTORS: Record<Exclude<AuditEntry['actor']['kind'], 'session'>, string> = {
  api_key: 'API key',
  customer: 'Customer, in the portal',
  operator: 'Operator of the service',
  store: 'A store',
  system: 'The service',
};

/** Tells sessions apart, so that somebody else's stands out. `sessions` are those that haven't ended, once they are known. */
export const actorText = ({ kind, id }: AuditEntry['actor'], sessions: SessionBody[] | undefined): string => {
  if (kind !== 'session') return ACTORS[kind];
  if (id === null) return 'Not signed in';
  const session = sessions?.find((one) => one.id === id);
  if (!session) return sessions ? 'A session that has ended' : 'A session';
  return session.current ? 'You, in this browser' : describeUserAgent(session.user_agent);
};

/** Describes an entry's details, for example as "scope: full". */
export const detailsText = (details: AuditEntry['details']): string =>
  Object.entries(details)
    .map(([name, value]) => `${name}: ${Array.isArray(value) ? value.join(', ') : String(value ?? 'none')}`)
    .join('; ');
