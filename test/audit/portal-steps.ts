import type { Answer, Json } from '../support/client.ts';
import { openPortal, tokenIn, visit } from '../support/portal.ts';
import { verifyAddress } from '../support/sign-in.ts';
import { PRIVATE, type Send, type Step, type World } from './world.ts';

// What a seller sets of the portal, and what a customer does there. Each step of a customer signs them in first.

type AsCustomer = (method: string, path: string, sent?: unknown) => Promise<Answer>;

const slugOf = async ({ ada }: World): Promise<string> =>
  (await ada.asSession('GET', '/api/portal')).body.slug;

const openWithAll: Send = async ({ ada }) => {
  await verifyAddress(ada.accountId);
  await openPortal(ada, { allow: { rotate_key: true } });
  return ada.asSession('GET', '/api/portal');
};

const open: Send = async ({ ada, ids, secrets }) => {
  const answer = await ada.asSession('POST', '/api/v1/portal-sessions', { license_id: ids['licenses'] });
  secrets.push(tokenIn(answer.body.url));
  return answer;
};

/** The customer who has signed in, which the first step of theirs does. */
let asCustomer: AsCustomer;

const signIn: Send = async (world) => {
  const slug = await slugOf(world);
  const token = world.secrets.at(-1);
  const answer = await visit(slug, 'POST', '/session', { token });
  const cookie = answer.headers.get('set-cookie')?.split(';')[0] ?? '';
  world.secrets.push(cookie.split('=')[1] ?? '');
  asCustomer = (method, path, sent) => visit(slug, method, path, sent, { cookie });
  return answer;
};

const asThem =
  (method: string, path: (world: World) => string, sent?: Json): Send =>
  (world) =>
    asCustomer(method, path(world), sent);

const license = ({ ids }: World) => `/licenses/${ids['licenses']}`;

const releaseSeat: Send = async (world) => {
  const seat = { license_key: world.answers['GET /portal-api/:slug/licenses/:id/key'].license_key };
  const taken = await world.ada.asKey('POST', '/api/v1/licenses/activate', {
    ...seat,
    fingerprint: 'machine-0002',
  });
  return asCustomer('DELETE', `${license(world)}/activations/${taken.body.activation.id}`);
};

export const PORTAL: Step[] = [
  { route: 'PUT /api/portal', leaves: 'portal.update', send: openWithAll },
  { route: 'POST /api/v1/portal-sessions', leaves: 'portal.open', send: open },
  { route: 'POST /portal-api/:slug/session', leaves: 'customer.sign_in', send: signIn },
  {
    route: 'GET /portal-api/:slug/licenses/:id/key',
    leaves: 'license.reveal_key',
    send: asThem('GET', (world) => `${license(world)}/key`),
  },
  {
    route: 'DELETE /portal-api/:slug/licenses/:id/activations/:activation_id',
    leaves: 'activation.release',
    send: releaseSeat,
  },
  {
    route: 'POST /portal-api/:slug/licenses/:id/token',
    leaves: 'offline_file.issue',
    send: asThem('POST', (world) => `${license(world)}/token`, { fingerprint: PRIVATE.fingerprint }),
  },
  {
    route: 'POST /portal-api/:slug/licenses/:id/rotate-key',
    leaves: 'license.rotate_key',
    send: asThem('POST', (world) => `${license(world)}/rotate-key`, {}),
  },
  {
    route: 'POST /portal-api/:slug/resend-keys',
    leaves: 'customer.send_keys',
    send: asThem('POST', () => '/resend-keys', {}),
  },
  {
    route: 'POST /portal-api/:slug/change-email',
    leaves: 'customer.request_email_change',
    send: asThem('POST', () => '/change-email', { email: PRIVATE.newEmail }),
  },
  {
    route: 'DELETE /portal-api/:slug/session',
    leaves: 'customer.sign_out',
    send: asThem('DELETE', () => '/session'),
  },
  { route: 'POST /api/v1/portal-sessions', leaves: 'portal.open', send: open },
  { route: 'POST /portal-api/:slug/session', leaves: 'customer.sign_in', send: signIn },
  {
    route: 'DELETE /portal-api/:slug/sessions',
    leaves: 'customer.sign_out',
    send: asThem('DELETE', () => '/sessions'),
  },
];
