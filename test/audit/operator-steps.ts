import { exports } from 'cloudflare:workers';
import { freshAddress, ORIGIN, textOf } from '../support/client.ts';
import { asOperator, OPERATOR_TOKEN } from '../support/operator.ts';
import type { Send, Step, World } from './world.ts';

/** Lines, and not JSON as `asOperator` expects them. */
const sendBackup = async (method: string, { eve }: World, query = '', body?: string): Promise<Response> =>
  exports.default.fetch(`${ORIGIN}/operator/backup/${eve.accountId}${query}`, {
    method,
    headers: { authorization: `Bearer ${OPERATOR_TOKEN}`, 'cf-connecting-ip': freshAddress() },
    ...(body !== undefined && { body }),
  });

const backUp: Send = async (world) => {
  const response = await sendBackup('GET', world);
  return { status: response.status, headers: response.headers, body: { lines: await textOf(response) } };
};

const restore: Send = async (world) => {
  const { lines } = world.answers['GET /operator/backup/:id'] as { lines: string };
  const { status, headers } = await sendBackup('POST', world, '?replace=true', lines);
  return { status, headers, body: {} };
};

const operator =
  (action: string, body?: unknown, method = 'POST'): Send =>
  ({ ada }) =>
    asOperator(method, `/operator/accounts/${ada.accountId}/${action}`, body);

export const OPERATORS: Step[] = [
  {
    route: 'POST /operator/invitations',
    leaves: 'invitation.create',
    creates: 'invitations',
    send: () => asOperator('POST', '/operator/invitations', {}),
  },
  {
    route: 'DELETE /operator/invitations/:id',
    leaves: 'invitation.delete',
    send: ({ ids }) => asOperator('DELETE', `/operator/invitations/${ids['invitations']}`),
  },
  {
    route: 'POST /operator/reseal',
    leaves: 'secrets.reseal',
    send: () => asOperator('POST', '/operator/reseal', {}),
  },
  { route: 'GET /operator/backup/:id', leaves: 'account.backup', send: backUp },
  { route: 'POST /operator/backup/:id', leaves: 'account.recover', send: restore },
  {
    route: 'GET /operator/accounts/:id/orphans',
    leaves: 'account.list_orphans',
    send: operator('orphans', undefined, 'GET'),
  },
  {
    route: 'DELETE /operator/accounts/:id/orphans',
    leaves: 'account.drop_orphans',
    send: operator('orphans', undefined, 'DELETE'),
  },
  {
    route: 'POST /operator/accounts/:id/plan',
    leaves: 'plan.grant',
    send: operator('plan', { plan: 'scale' }),
  },
  { route: 'POST /operator/accounts/:id/suspend', leaves: 'account.suspend', send: operator('suspend') },
  {
    route: 'POST /operator/accounts/:id/reinstate',
    leaves: 'account.reinstate',
    send: operator('reinstate'),
  },
];
