import type { AuditAction } from '../../src/shared/rules/audit.ts';
import type { Answer, Customer, Json } from '../support/client.ts';

export interface World {
  ada: Customer;
  /** The latest body that each route has answered. */
  answers: Record<string, Json>;
  /** The URL of a webhook. */
  url: string;
  /** What must not be in any entry. */
  secrets: string[];
}

export type Send = (world: World) => Promise<Answer>;

/** The route, the action of the entry that a call to it leaves, and the call. */
export type Step = [route: string, action: AuditAction, send: Send];

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

/** A call with the session. */
export const session =
  (method: string, pathOf: string | ((world: World) => string), body?: unknown): Send =>
  (world) =>
    world.ada.asSession(method, typeof pathOf === 'string' ? pathOf : pathOf(world), body);
