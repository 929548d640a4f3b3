// What a session may do without a fresh proof. A route that changes how one gets in, or that lets secrets or everything out,
// belongs to those that want one.

const LOOKS = [
  '/api/account',
  '/api/api-keys',
  '/api/audit-log',
  '/api/billing',
  '/api/dashboard',
  '/api/developer-progress',
  '/api/events',
  '/api/onboarding',
  '/api/portal',
  '/api/purchases',
  '/api/purchases/:id',
  '/api/regions',
  '/api/sessions',
  '/api/stores',
  '/api/stores/:id',
  '/api/stores/:id/offers',
  '/api/stores/:id/offers/:ref',
  '/api/v1/customers',
  '/api/v1/licenses',
  '/api/v1/licenses/:id',
  '/api/v1/licenses/:id/activations',
  '/api/v1/licenses/:id/history',
  '/api/v1/licenses/:id/seat-history',
  '/api/v1/products',
  '/api/v1/products/:code',
  '/api/v1/products/:code/mail',
  '/api/webhooks',
  '/api/webhooks/:id/deliveries',
].map((path) => `GET ${path}`);

/** Work on what is sold. */
const SELLS = [
  'DELETE /api/stores/:id/offers/:ref',
  'DELETE /api/v1/licenses/:id',
  'DELETE /api/v1/licenses/:id/activations/:activation_id',
  'DELETE /api/v1/products/:code',
  'PATCH /api/v1/licenses/:id',
  'PATCH /api/v1/products/:code/mail',
  'POST /api/erase-customer',
  'POST /api/purchases/:id/assign',
  'POST /api/purchases/:id/resend-mail',
  'POST /api/purchases/:id/retry',
  'POST /api/v1/products/:code/mail/preview',
  'POST /api/v1/products/:code/mail/test',
  'PUT /api/stores/:id/offers/:ref',
  'POST /api/v1/licenses/:id/reinstate',
  'POST /api/v1/licenses/:id/renew',
  'POST /api/v1/licenses/:id/revoke',
  'POST /api/v1/licenses/:id/rotate-key',
  'POST /api/v1/licenses/:id/suspend',
  'POST /api/v1/licenses/:id/token',
  'POST /api/v1/licenses/create',
  'POST /api/v1/licenses/import',
  'POST /api/v1/portal-sessions',
  'PUT /api/portal',
  'PUT /api/v1/products/:code',
];

const SETTINGS = [
  'PATCH /api/account',
  'POST /api/cancel-subscription',
  'POST /api/home-region',
  'POST /api/init-payment',
  'POST /api/resend-verification',
  'POST /api/resume-subscription',
];

/** What ends a way in or out, which an owner may need in a hurry, or sends to where events already go. */
const ENDS = [
  'DELETE /api/api-keys/:id',
  'DELETE /api/sessions',
  'DELETE /api/sessions/:id',
  'DELETE /api/stores/:id',
  'DELETE /api/webhooks/:id',
  'POST /api/logout',
  'POST /api/reauthenticate',
  'POST /api/webhooks/:id/deliveries/:delivery_id/resend',
  'POST /api/webhooks/:id/replay',
  'POST /api/webhooks/:id/test',
];

export const WITHOUT_PROOF = [...LOOKS, ...SELLS, ...SETTINGS, ...ENDS];
