import { useState } from 'react';
import type { Webhook } from '../../data/queries.ts';
import { Badge } from '../../ui/badge.tsx';
import { Choice, ChoiceGroup, useFieldError } from '../../ui/form.tsx';

type EventName = Webhook['events'][number];

const EVENTS: Record<EventName, string> = {
  'payment.success': 'A payment was confirmed.',
  'subscription.cancelled': 'A subscription was cancelled.',
  'license.created': 'A license was created.',
  'license.verified': 'A license was verified and found valid, each time anew.',
};
const NAMES = Object.keys(EVENTS) as EventName[];

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

/** What a form with an `EventChoice` holds: null is all of them, those to come included. */
export const chosenEvents = (form: FormData): EventName[] | null =>
  form.get('which') === 'all' ? null : NAMES.filter((name) => form.getAll('events').includes(name));

export const EventChoice = ({ events = NAMES }: Partial<Pick<Webhook, 'events'>>) => {
  const [isChoosing, setChoosing] = useState(!isAll(events));
  const error = useFieldError('events');
  return (
    <ChoiceGroup label="Events">
      <Choice
        type="radio"
        name="which"
        value="all"
        checked={!isChoosing}
        onChange={() => setChoosing(false)}
        label="All events"
        hint="Those that are added later, too."
      />
      <Choice
        type="radio"
        name="which"
        value="some"
        checked={isChoosing}
        onChange={() => setChoosing(true)}
        label="Only these"
      />
      {isChoosing && (
        <div className="ml-6.5 grid gap-2.5 border-l border-line pl-4">
          {NAMES.map((name) => (
            <Choice
              key={name}
              name="events"
              value={name}
              defaultChecked={!isAll(events) && events.includes(name)}
              aria-invalid={error ? true : undefined}
              label={name}
              hint={EVENTS[name]}
            />
          ))}
          {error && (
            <p role="alert" className="text-sm text-bad">
              Choose at least one event
            </p>
          )}
        </div>
      )}
    </ChoiceGroup>
  );
};
