const ACTIVATION_EVENTS = ['activation.created', 'activation.released', 'activation.refused'] as const;

/** `license.expiring` is sent so many days before a license's last day. */
export const DAYS_BEFORE_EXPIRY = [30, 7, 1] as const;

/** Changes of a license. The history has most of them, too. */
const CHANGE_EVENTS = [
  'license.updated',
  'license.renewed',
  'license.suspended',
  'license.reinstated',
  'license.revoked',
  'license.key_rotated',
  'license.deleted',
] as const;

const PURCHASE_EVENTS = [
  'purchase.fulfilled',
  'purchase.refunded',
  'purchase.unmapped',
  'purchase.failed',
] as const;

/** Events that a webhook endpoint can subscribe to. */
export const EVENT_NAMES = [
  'payment.success',
  'payment.failed',
  'payment.refunded',
  'payment.disputed',
  'subscription.cancelled',
  'plan.ending',
  'license.created',
  'license.verified',
  ...CHANGE_EVENTS,
  'license.expiring',
  'license.expired',
  ...ACTIVATION_EVENTS,
  ...PURCHASE_EVENTS,
  'usage.threshold',
] as const;
export type EventName = (typeof EVENT_NAMES)[number];

/** Sent to a single endpoint on request. Endpoints can't subscribe to it. */
export const TEST_EVENT = 'webhook.test';
