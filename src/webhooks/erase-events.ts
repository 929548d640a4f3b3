import type { WebhookEvent } from '../shared/text/events.ts';
import { openScrubber } from '../shared/text/scrub.ts';
import { type Deliveries, type DeliveryRow, toDelivery } from './delivery-store.ts';
import type { Endpoints } from './endpoint-store.ts';
import type { Events } from './event-store.ts';
import type { LaneStore } from './lane-store.ts';
import type { Endpoint } from './outbox-tables.ts';
import type { Pending } from './pending-store.ts';

/** Whose events are erased. The email addresses are in lower case. */
export interface ErasedSubjects {
  /** Deleted licenses. Their events are deleted, also those that are still to be delivered, except the one of the deletion. */
  licenseIds: string[];
  /** Customers. Their events stay, without the address and without what people have written. */
  emails: string[];
}

export interface ErasedPage {
  events: number;
  /** The last block of this page, or null if no blocks are left. */
  next: string | null;
}

/** The texts of an event of a license that nobody has written about a person. All others go, such as the seller's reason. */
const KEPT_FIELDS = [
  'event',
  'timestamp',
  'license_key',
  'license_id',
  'activation_id',
  'fingerprint',
  'expires_at',
  'changed',
];

/** Blocks of events that are read in one turn of the object, whether they have such events or not. */
const PAGE_BLOCKS = 500;

interface Parts {
  events: Events;
  endpoints: Endpoints;
  deliveries: Deliveries;
  pending: Pending;
  laneStore: LaneStore;
}

/** Erases events and what endpoints have answered to them, a page in each call, as part of the current transaction. */
export const openEventErasure = ({ events, endpoints, deliveries, pending, laneStore }: Parts) => {
  const deleteDelivery = (row: DeliveryRow) => {
    const lanes = laneStore.get(row.endpoint_id);
    pending.remove(toDelivery(row, lanes), lanes);
    laneStore.save(row.endpoint_id, lanes);
    deliveries.delete(row.endpoint_id, row.id);
  };

  /** The URL stays, because deliveries need it. */
  const scrubEndpoint = (endpoint: Endpoint, scrub: <T>(value: T) => T) => {
    const description = scrub(endpoint.description);
    if (description !== endpoint.description) endpoints.save({ ...endpoint, description });
  };

  return ({ licenseIds, emails }: ErasedSubjects, afterId: string): ErasedPage => {
    const isDeleted = new Set(licenseIds);
    const isErased = new Set(emails);
    const scrubbers = emails.map((email) => openScrubber({ email, names: [] }).scrub);
    const scrub = <T>(value: T): T => scrubbers.reduce((scrubbed, next) => next(scrubbed), value);

    /** Returns the event as it stays, or null if it is deleted. */
    const erase = (event: WebhookEvent): WebhookEvent | null => {
      const fields = JSON.parse(event.payload) as Record<string, unknown>;
      const { license_id: licenseId, customer_email: email } = fields;
      if (isDeleted.has(String(licenseId)) && event.name !== 'license.deleted') return null;
      const isTheirs = licenseId !== undefined && isErased.has(String(email).toLowerCase());
      const stays = ([field, value]: [string, unknown]) =>
        !isTheirs || KEPT_FIELDS.includes(field) || typeof value !== 'string' || field === 'customer_email';
      const erased = Object.entries(fields).map(
        (entry) => [entry[0], stays(entry) ? scrub(entry[1]) : null] as const,
      );
      const payload = JSON.stringify(Object.fromEntries(erased));
      return payload === event.payload ? event : { ...event, payload };
    };

    if (afterId === '') for (const endpoint of endpoints.listNewestFirst()) scrubEndpoint(endpoint, scrub);
    const { blocks, next } = events.pageContaining([...licenseIds, ...emails], afterId, PAGE_BLOCKS);
    let count = 0;
    for (const { id, events: before } of blocks) {
      const after = new Map(before.map((event) => [event.id, erase(event)]));
      const changed = before.filter((event) => after.get(event.id) !== event).map((event) => event.id);
      if (changed.length === 0) continue;
      count += changed.length;
      for (const row of deliveries.listByEvents(id, changed))
        if (after.get(row.event_id)) deliveries.forgetResponses(row);
        else deleteDelivery(row);
      events.replaceBlock(
        id,
        [...after.values()].filter((event) => event !== null),
        changed.filter((eventId) => after.get(eventId) === null),
      );
    }
    return { events: count, next };
  };
};
