import { useState } from 'react';
import { addDays, isoDate } from '../../../shared/rules/dates.ts';
import { MAX_DURATION_DAYS } from '../../../shared/rules/licenses.ts';
import { invalidField } from '../../data/error.ts';
import { formatCount, formatDate } from '../../lib/format.ts';
import { SelectField, TextField } from '../../ui/form.tsx';
import { useNow } from '../../ui/time.tsx';
import { readDays } from './dates.ts';

/** `product` leaves the expiry to the license's product, so that its form sends none. */
export type ExpiryKind = 'product' | 'never' | 'date' | 'days';

const DAYS_RANGE = `a whole number from 1 to ${formatCount(MAX_DURATION_DAYS)}`;

/** Reads the values of an `ExpiryField` from its form. */
export const readExpiry = ({
  expiry,
  expires_at = '',
  duration_days = '',
}: Record<string, string>): { expires_at: string | null } | { duration_days: number } => {
  if (expiry === 'never') return { expires_at: null };
  if (expiry === 'date') {
    if (expires_at === '') throw invalidField('expires_at', 'Choose a date');
    return { expires_at };
  }
  const days = readDays(duration_days);
  if (days === null) throw invalidField('duration_days', `Enter ${DAYS_RANGE}`);
  return { duration_days: days };
};

interface ExpiryFieldProps {
  label: string;
  choices: { kind: ExpiryKind; label: string }[];
  chosen: ExpiryKind;
  date?: string | null;
  /** Explains what "Never" means. */
  neverHint: string;
  /** How many days a license of the product lasts, null if it never expires, or undefined if that isn't known. */
  productDays?: number | null | undefined;
  /** Explains which date the number of days leads to. */
  daysHint?: (days: number, today: string) => string;
}

const DEFAULT_DAYS = '365';

export const ExpiryField = ({
  label,
  choices,
  chosen,
  date = null,
  neverHint,
  productDays,
  daysHint,
}: ExpiryFieldProps) => {
  const [picked, setKind] = useState(chosen);
  // Another product may have other choices.
  const kind = choices.some((choice) => choice.kind === picked) ? picked : chosen;
  const [day, setDay] = useState(date ?? '');
  const [days, setDays] = useState(DEFAULT_DAYS);
  const today = isoDate(useNow());
  const count = readDays(days);
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <SelectField
        label={label}
        name="expiry"
        value={kind}
        onChange={(event) => setKind(event.currentTarget.value as ExpiryKind)}
        hint={
          kind === 'product' && productDays !== null
            ? productDays !== undefined && `Until ${formatDate(addDays(today, productDays))}, UTC.`
            : (kind === 'never' || kind === 'product') && neverHint
        }
      >
        {choices.map((choice) => (
          <option key={choice.kind} value={choice.kind}>
            {choice.label}
          </option>
        ))}
      </SelectField>
      {kind === 'date' && (
        <TextField
          label="Last day"
          name="expires_at"
          type="date"
          min={today}
          value={day}
          onChange={(event) => setDay(event.currentTarget.value)}
          hint="Valid through the end of this day, UTC."
        />
      )}
      {kind === 'days' && (
        <TextField
          label="Days"
          name="duration_days"
          inputMode="numeric"
          autoComplete="off"
          maxLength={6}
          value={days}
          onChange={(event) => setDays(event.currentTarget.value)}
          hint={(count !== null && daysHint?.(count, today)) || `Enter ${DAYS_RANGE}.`}
          className="nums"
        />
      )}
    </div>
  );
};
