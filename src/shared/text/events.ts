import { isoTime } from '../rules/dates.ts';
import type { EventName, TEST_EVENT } from '../rules/events.ts';
import { newId } from './ids.ts';

// Webhook events. An event's id and payload are created once, together with the change that causes the event.

export interface WebhookEvent {
  id: string;
  name: EventName | typeof TEST_EVENT;
  /** The request body of every delivery. */
  payload: string;
  createdAtMs: number;
}

type EventValue = string | number | boolean | null | string[];

export const newEvent = (
  name: WebhookEvent['name'],
  nowMs: number,
  fields: { customer_email: string } & Record<string, EventValue>,
): WebhookEvent => ({
  id: newId('evt'),
  name,
  payload: JSON.stringify({ event: name, timestamp: isoTime(nowMs), ...fields }),
  createdAtMs: nowMs,
});

export const licenseEvent = (
  name: Extract<EventName, `license.${string}` | `activation.${string}`>,
  nowMs: number,
  license: { id: string; licenseKey: string; customerEmail: string },
  fields: Record<string, EventValue> = {},
): WebhookEvent =>
  newEvent(name, nowMs, {
    license_key: license.licenseKey,
    license_id: license.id,
    customer_email: license.customerEmail,
    ...fields,
  });
