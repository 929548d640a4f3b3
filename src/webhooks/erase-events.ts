import { ERASED_EMAIL } from '../shared/rules/licenses.ts';
import type { WebhookEvent } from '../shared/text/events.ts';
import { type Deliveries, type DeliveryRow, toDelivery } from './delivery-store.ts';
import type { Events } from './event-store.ts';
import type { LaneStore } from './lane-store.ts';
import type { Pending } from './pending-store.ts';

/** Whose events are erased. The email addresses are in lower case. */
export interface ErasedSubjects {
  /** Deleted licenses. Their events are deleted, also those that are still to be delivered, except the one of the deletion. */
  licenseIds: string[];
  /** Customers. Their events stay, without the address and without the names of machines. */
  emails: string[];
}

export interface ErasedPage {
  events: number;
  /** The last block of this page, or null if no blocks are left. */
  next: string | null;
}

/** The name of a machine, and the seller's reason. */
const WRITTEN_BY_PEOPLE = ['name', 'reason'];

/** Blocks of events that are read in one turn of the object, whether they have such events or not. */
const PAGE_BLOCKS = 500;

interface Parts {
  events: Events;
  deliveries: Deliveries;
  pending: Pending;
  laneStore: LaneStore;
}

/** Erases events and what endpoints have answered to them, a page in each call, as part of the current transaction. */
export const openEventErasure = ({ events, deliveries, pending, laneStore }: Parts) => {
  const deleteDelivery = (row: DeliveryRow) => {
    const lanes = laneStore.get(row.endpoint_id);
    pending.remove(toDelivery(row, lanes), lanes);
    laneStore.save(row.endpoint_id, lanes);
    deliveries.delete(row.endpoint_id, row.id);
  };

  return ({ licenseIds, emails }: ErasedSubjects, afterId: string): ErasedPage => {
    const isDeleted = new Set(licenseIds);
    const isErased = new Set(emails);

    /** Returns the event as it stays, or null if it is deleted. */
    const erase = (event: WebhookEvent): WebhookEvent | null => {
      const fields = JSON.parse(event.payload) as Record<string, string | number | null>;
      const { license_id: licenseId, customer_email: email } = fields;
      if (isDeleted.has(String(licenseId)) && event.name !== 'license.deleted') return null;
      if (!isErased.has(String(email).toLowerCase())) return event;
      const others = WRITTEN_BY_PEOPLE.filter((field) => field in fields).map((field) => [field, null]);
      const erased = { ...fields, customer_email: ERASED_EMAIL, ...Object.fromEntries(others) };
      return { ...event, payload: JSON.stringify(erased) };
    };

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
