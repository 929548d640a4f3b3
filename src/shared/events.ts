import { isoTime } from './clock.ts';
import { newId } from './ids.ts';

// What customers' applications hear of. An event's id and bytes are made once, with its cause.

export const EVENT_NAMES = [
  'payment.success',
  'subscription.cancelled',
  'license.created',
  'license.verified',
] as const;
export type EventName = (typeof EVENT_NAMES)[number];

/** Sent on request, to one endpoint, and never subscribed to. */
export const TEST_EVENT = 'webhook.test';

export interface WebhookEvent {
  id: string;
  name: EventName | typeof TEST_EVENT;
  /** The exact body of every delivery. */
  payload: string;
  createdAtMs: number;
}

export const newEvent = (
  name: WebhookEvent['name'],
  nowMs: number,
  fields: { customer_email: string } & Record<string, string | number | null>,
): WebhookEvent => ({
  id: newId('evt'),
  name,
  payload: JSON.stringify({ event: name, timestamp: isoTime(nowMs), ...fields }),
  createdAtMs: nowMs,
});

export const licenseEvent = (
  name: 'license.created' | 'license.verified',
  nowMs: number,
  license: { id: string; licenseKey: string; customerEmail: string },
): WebhookEvent =>
  newEvent(name, nowMs, {
    license_key: license.licenseKey,
    license_id: license.id,
    customer_email: license.customerEmail,
  });
