import type { AuditAction } from '../../../shared/rules/audit.ts';
import { describeUserAgent } from '../../../shared/rules/user-agent.ts';
import type { AuditEntry, Session } from '../../data/settings-queries.ts';

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

const ACTORS: Record<Exclude<AuditEntry['actor']['kind'], 'session'>, string> = {
  api_key: 'API key',
  operator: 'Operator of the service',
  system: 'The service',
};

/** Tells sessions apart, so that somebody else's stands out. `sessions` are those that haven't ended, once they are known. */
export const actorText = ({ kind, id }: AuditEntry['actor'], sessions: Session[] | undefined): string => {
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
