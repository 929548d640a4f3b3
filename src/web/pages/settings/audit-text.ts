import type { AuditAction } from '../../../shared/rules/audit.ts';
import type { AuditEntry } from '../../data/settings-queries.ts';

/** Actions whose names don't follow from a noun and a verb. */
const TEXTS: Partial<Record<AuditAction, string>> = {
  register: 'Account created',
  login: 'Signed in',
  logout: 'Signed out',
  'password.reset': 'Password reset',
  'email.verify': 'Email address verified',
  'email.request_change': 'Change of the email address requested',
  'email.change': 'Email address changed',
  'two_factor.enable': 'Two-factor authentication turned on',
  'two_factor.disable': 'Two-factor authentication turned off',
  'account.move': 'Home region changed',
  'account.erase': 'Deletion of the account requested',
  'license.rotate_key': 'License key replaced',
  'license.import': 'Licenses imported',
  'activation.release': 'Seat released',
  'product.put': 'Product saved',
  'webhook.rotate_secret': 'Webhook secret rotated',
  'webhook.test': 'Test event sent',
  'webhook.resend': 'Delivery resent',
  'subscription.cancel': 'Subscription canceled',
};

const capitalize = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/** Describes an action in words, for example as "API key created". */
export const actionText = (action: AuditAction): string => {
  const [noun = '', verb = ''] = action.split('.');
  const words = noun === 'api_key' ? 'API key' : noun.replaceAll('_', ' ');
  return TEXTS[action] ?? capitalize(`${words} ${verb}${verb.endsWith('e') ? 'd' : 'ed'}`);
};

const ACTORS: Record<AuditEntry['actor']['kind'], string> = {
  session: 'You',
  api_key: 'API key',
  operator: 'Operator of the service',
  system: 'The service',
};

export const actorText = ({ kind }: AuditEntry['actor']): string => ACTORS[kind];

/** Describes an entry's details, for example as "scope: full". */
export const detailsText = (details: AuditEntry['details']): string =>
  Object.entries(details)
    .map(([name, value]) => `${name}: ${Array.isArray(value) ? value.join(', ') : String(value ?? 'none')}`)
    .join('; ');
