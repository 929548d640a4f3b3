import { DEFAULT_OFFLINE_DAYS } from '../../../shared/rules/terms.ts';
import { Choice, ChoiceGroup, TextField } from '../../ui/form.tsx';
import { ValuesField } from '../../ui/values-field.tsx';
import type { ValueRow } from '../../ui/values.ts';
import { LeaseField } from './lease-field.tsx';
import { TERM_HINTS, type TermsDraft } from './terms.ts';

type NumberTerm = Exclude<keyof TermsDraft, 'lease_seconds' | 'self_service' | 'entitlements'>;

export const NumberField = ({
  value,
  term,
  label,
  placeholder,
}: {
  value: number | null;
  term: NumberTerm;
  label: string;
  placeholder: string;
}) => (
  <TextField
    label={label}
    name={`terms.${term}`}
    inputMode="numeric"
    autoComplete="off"
    maxLength={9}
    placeholder={placeholder}
    defaultValue={value ?? ''}
    hint={TERM_HINTS[term]}
    className="nums"
  />
);

/** The fields of a product's terms. An empty field has the default that its placeholder names. */
export const TermsFields = ({
  terms,
  rows,
  onRows,
}: {
  terms: TermsDraft;
  rows: ValueRow[];
  onRows: (rows: ValueRow[]) => void;
}) => (
  <>
    <div className="grid gap-4 sm:grid-cols-2">
      <NumberField
        value={terms.max_activations}
        term="max_activations"
        label="Seats"
        placeholder="No limit"
      />
      <LeaseField
        label="Seat lease"
        name="terms.lease_seconds"
        seconds={terms.lease_seconds}
        placeholder="Kept"
        hint={TERM_HINTS.lease_seconds}
      />
      <NumberField
        value={terms.offline_days}
        term="offline_days"
        label="Days offline"
        placeholder={`${DEFAULT_OFFLINE_DAYS}`}
      />
      <NumberField
        value={terms.max_transfers}
        term="max_transfers"
        label="Machine changes"
        placeholder="No limit"
      />
      <NumberField
        value={terms.duration_days}
        term="duration_days"
        label="Duration in days"
        placeholder="Never expires"
      />
      <NumberField
        value={terms.updates_days}
        term="updates_days"
        label="Updates in days"
        placeholder="All versions"
      />
      <NumberField value={terms.grace_days} term="grace_days" label="Days of grace" placeholder="None" />
    </div>
    <ChoiceGroup label="Self-service">
      <Choice
        name="terms.self_service"
        defaultChecked={terms.self_service === true}
        label="Customers may replace a machine themselves"
        hint={TERM_HINTS.self_service}
      />
    </ChoiceGroup>
    <ValuesField
      name="terms.entitlements"
      label="Entitlements"
      noun="entitlement"
      example="export"
      hint={TERM_HINTS.entitlements}
      rows={rows}
      onChange={onRows}
    />
  </>
);
