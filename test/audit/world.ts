import type { AuditAction } from '../../src/shared/rules/audit.ts';
import { type Ids, pathTo } from '../http/security.ts';
import type { Answer, Customer, Json } from '../support/client.ts';

export interface World {
  ada: Customer;
  /** Whose backup is restored. For some time, changes of that account wait for branches that the restore forgot. */
  eve: Customer;
  /** What the steps so far have created. */
  ids: Ids;
  /** The latest body that each route has answered. */
  answers: Record<string, Json>;
  /** The URL of a webhook. */
  url: string;
  /** What must not be in any entry. */
  secrets: string[];
}

export type Send = (world: World) => Promise<Answer>;

/** A call to a route that leaves one entry. */
export interface Step {
  route: string;
  leaves: AuditAction;
  /** What follows from it. */
  alsoLeaves?: AuditAction[];
  body?: object | ((world: World) => object);
  /** The kind of ids to which the answer's belongs, as in `/api/webhooks/:id`. */
  creates?: 'api-keys' | 'deliveries' | 'invitations' | 'licenses' | 'stores' | 'webhooks';
  /** Makes the call, unless it is one with ada's session. */
  send?: Send;
}

/** What must not be in an entry, besides what the service has answered. */
export const PRIVATE = {
  password: 'correct horse battery staple',
  newPassword: 'staple battery horse correct',
  bob: 'bob@example.com',
  newEmail: 'lovelace@example.com',
  customer: 'grace@example.com',
  customerName: 'Grace Hopper',
  note: 'note about the customer',
  fingerprint: 'machine-0001',
};

const sendWithSession = async ({ route, body }: Step, world: World): Promise<Answer> => {
  const [method = '', path = ''] = route.split(' ');
  const sent = typeof body === 'function' ? body(world) : body;
  return world.ada.asSession(method, pathTo({ path }, world.ids), sent);
};

/** Makes the call, and keeps what it has answered. */
export const take = async (step: Step, world: World): Promise<Answer> => {
  const answer = await (step.send?.(world) ?? sendWithSession(step, world));
  world.answers[step.route] = answer.body;
  if (step.creates) world.ids[step.creates] = answer.body.id;
  return answer;
};
