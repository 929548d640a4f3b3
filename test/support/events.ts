/** Written out, so that the tests notice when an event is renamed or removed. */
export const ALL_EVENTS = [
  'payment.success',
  'subscription.cancelled',
  'license.created',
  'license.verified',
  'activation.created',
  'activation.released',
  'activation.refused',
  'usage.threshold',
];
