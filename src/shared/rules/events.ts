const ACTIVATION_EVENTS = ['activation.created', 'activation.released', 'activation.refused'] as const;
export type ActivationEventName = (typeof ACTIVATION_EVENTS)[number];

/** Events that a webhook endpoint can subscribe to. */
export const EVENT_NAMES = [
  'payment.success',
  'subscription.cancelled',
  'license.created',
  'license.verified',
  ...ACTIVATION_EVENTS,
  'usage.threshold',
] as const;
export type EventName = (typeof EVENT_NAMES)[number];

/** Sent to a single endpoint on request. Endpoints can't subscribe to it. */
export const TEST_EVENT = 'webhook.test';
