/** The methods of an outbox that the platform may repeat after a disconnect. A repeat has the same result as a single call. */
export const REPEATABLE = [
  'accept',
  'settle',
  'getEndpoint',
  'listEndpoints',
  'addEndpoint',
  'updateEndpoint',
  'rotateSecret',
  'replaceSealed',
  'listDeliveries',
  'listen',
  'summary',
  'backup',
  'eraseEvents',
  'erase',
] as const;
