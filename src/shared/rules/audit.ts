/**
 * Who did something. A session stands for the account holder, a customer acts in the portal, a store has reported something, and
 * `system` is the service itself.
 */
export const ACTOR_KINDS = ['session', 'api_key', 'customer', 'operator', 'store', 'system'] as const;

export interface Actor {
  readonly kind: (typeof ACTOR_KINDS)[number];
  /** The id of the session, API key, store, or customer’s session. Null for operators, the service, and somebody who follows the link in an email. */
  readonly id: string | null;
}

export const SYSTEM: Actor = { kind: 'system', id: null };
export const OPERATOR: Actor = { kind: 'operator', id: null };

/** What the audit log records. Each name is a noun and a verb, except for the acts of signing in and out. */
export const AUDIT_ACTIONS = [
  'register',
  'login',
  'logout',
  'password.change',
  'password.reset',
  'email.verify',
  'email.request_change',
  'email.change',
  'email.restore',
  'session.end',
  'session.prove',
  'session.fail',
  'two_factor.enable',
  'two_factor.disable',
  'two_factor.fail',
  'two_factor.request_reset',
  'two_factor.reset',
  'recovery_code.use',
  'recovery_code.replace',
  'account.update',
  'account.move',
  'account.export',
  'account.erase',
  'account.restore',
  'account.suspend',
  'account.reinstate',
  'account.backup',
  'account.recover',
  'account.list_orphans',
  'account.drop_orphans',
  'account.move_database',
  'api_key.create',
  'api_key.reveal',
  'api_key.rotate',
  'api_key.delete',
  'license.create',
  'license.update',
  'license.suspend',
  'license.reinstate',
  'license.revoke',
  'license.renew',
  'license.rotate_key',
  'license.import',
  'license.delete',
  'activation.release',
  'offline_file.issue',
  'customer.erase',
  'customer.sign_in',
  'customer.sign_out',
  'customer.send_keys',
  'customer.request_email_change',
  'customer.change_email',
  'license.reveal_key',
  'portal.update',
  'portal.open',
  'product.put',
  'product.update_mail',
  'product.test_mail',
  'product.delete',
  'webhook.create',
  'webhook.reveal',
  'webhook.update',
  'webhook.rotate_secret',
  'webhook.test',
  'webhook.resend',
  'webhook.replay',
  'webhook.delete',
  'store.create',
  'store.update',
  'store.delete',
  'offer.put',
  'offer.delete',
  'purchase.retry',
  'purchase.assign',
  'purchase.resend_mail',
  'checkout.start',
  'payment.receive',
  'payment.fail',
  'payment.refund',
  'payment.dispute',
  'subscription.renew',
  'subscription.cancel',
  'subscription.resume',
  'subscription.end',
  'plan.change',
  'plan.grant',
  'invitation.create',
  'invitation.delete',
  'accounts.search',
  'secrets.reseal',
  'service.backup',
  'service.restore',
] as const;

export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** More about an action, such as the names of changed fields. Never a secret, a key, or a customer's data. */
export type AuditDetails = Record<string, string | number | boolean | null | string[]>;
