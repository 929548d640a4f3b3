import { useState } from 'react';
import { EVENT_NAMES, type EventName } from '../../../shared/rules/events.ts';
import type { Webhook } from '../../data/webhook-queries.ts';
import { Badge } from '../../ui/badge.tsx';
import { Choice, ChoiceGroup, useFieldError } from '../../ui/form.tsx';

const EVENT_DESCRIPTIONS: Record<EventName, string> = {
  'payment.success': 'A payment is confirmed',
  'payment.failed': 'A payment for the subscription fails, once per invoice',
  'payment.refunded': 'A payment is refunded, in full or in part',
  'plan.ending': 'The plan ends in three days or in one day, after a cancellation or a failed payment',
  'payment.disputed': 'A payment is disputed at the bank, or the dispute is won or lost',
  'subscription.cancelled': 'A subscription is canceled',
  'license.created': 'A license is created',
  'license.verified': 'Each time a license is verified as valid',
  'license.updated': 'A license’s fields change',
  'license.renewed': 'Only a license’s last day changes',
  'license.suspended': 'A license is suspended',
  'license.reinstated': 'A suspended license is reinstated',
  'license.revoked': 'A license is revoked for good',
  'license.key_rotated': 'A license gets another key',
  'license.deleted': 'A license is deleted',
  'license.expiring': '30 days, 7 days, and 1 day before a license’s last day',
  'license.expired': 'The day after a license’s last day',
  'activation.created': 'A machine takes a seat',
  'activation.released': 'A seat is released',
  'activation.refused': 'A machine finds no free seat, at most once an hour per license',
  'purchase.fulfilled': 'A purchase in a store gets its licenses',
  'purchase.refunded': 'No part of a purchase is paid anymore',
  'purchase.unmapped': 'Something in a purchase has no offer',
  'purchase.failed': 'A purchase can’t get its licenses now',
  'usage.threshold': 'Usage reaches 80%, 100%, or 125% of the limit',
};
const NAMES: EventName[] = [...EVENT_NAMES];

const isAll = (events: EventName[]) => events.length === NAMES.length;

export const EventNames = ({ events }: Pick<Webhook, 'events'>) =>
  isAll(events) ? (
    <Badge>All events</Badge>
  ) : (
    <span className="inline-flex flex-wrap gap-1">
      {events.map((name) => (
        <Badge key={name}>{name}</Badge>
      ))}
    </span>
  );

/** The events of a webhook as `chosenEvents` returns them. */
export const eventsOf = ({ events }: Pick<Webhook, 'events'>): EventName[] | null =>
  isAll(events) ? null : NAMES.filter((name) => events.includes(name));

/** Returns the events chosen in an `EventChoice`, or null for all events, including future ones. */
export const chosenEvents = (form: FormData): EventName[] | null =>
  form.get('which') === 'all' ? null : NAMES.filter((name) => form.getAll('events').includes(name));

export const EventChoice = ({ events = NAMES }: Partial<Pick<Webhook, 'events'>>) => {
  const [isSelecting, setSelecting] = useState(!isAll(events));
  const error = useFieldError('events');
  return (
    <ChoiceGroup label="Events">
      <Choice
        type="radio"
        name="which"
        value="all"
        checked={!isSelecting}
        onChange={() => setSelecting(false)}
        label="All events"
        hint="Includes events that are added in the future."
      />
      <Choice
        type="radio"
        name="which"
        value="some"
        checked={isSelecting}
        onChange={() => setSelecting(true)}
        label="Selected events"
      />
      {isSelecting && (
        <div className="ml-6.5 grid gap-2.5 border-l border-line pl-4">
          {NAMES.map((name) => (
            <Choice
              key={name}
              name="events"
              value={name}
              defaultChecked={!isAll(events) && events.includes(name)}
              aria-invalid={error ? true : undefined}
              label={name}
              hint={EVENT_DESCRIPTIONS[name]}
            />
          ))}
          {error && (
            <p role="alert" className="text-sm text-bad">
              Select at least one event
            </p>
          )}
        </div>
      )}
    </ChoiceGroup>
  );
};
