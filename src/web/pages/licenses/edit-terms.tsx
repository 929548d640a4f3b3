import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { MAX_GRACE_DAYS, MAX_OFFLINE_DAYS, MAX_SEATS, NO_LIMIT } from '../../../shared/rules/terms.ts';
import { invalidField } from '../../data/error.ts';
import { editLicense } from '../../data/license-mutations.ts';
import type { LicenseBody, Product } from '../../data/queries.ts';
import { Dialog, FormActions } from '../../ui/dialog.tsx';
import { Drafted, draftRows, useDraft, useOpened } from '../../ui/draft.tsx';
import { Form, SelectField, TextField } from '../../ui/form.tsx';
import { showToast } from '../../ui/toast.tsx';
import { ValuesField } from '../../ui/values-field.tsx';
import { type ValueRow, readOverrides, rowsOf } from '../../ui/values.ts';
import { LeaseField } from '../products/lease-field.tsx';
import { TERM_HINTS, readLease, readWhole } from '../products/terms.ts';
import { TERM_NAMES, type Term, termText, termsOf } from './terms-text.ts';

/** How a license treats a term: it inherits it, has its own value, or lifts the product's limit. */
type Mode = 'inherit' | 'own' | typeof NO_LIMIT;

type Values = Record<string, string>;

const fieldOfTerm = (term: Term) => `terms.${term}`;
const modeField = (term: Term) => `mode.${term}`;

/** Reads the term's own value if the form chose one. Null inherits the term. */
const readOwn = (values: Values, term: Term, read: (name: string) => number | null): number | null => {
  if (values[modeField(term)] !== 'own') return null;
  const name = fieldOfTerm(term);
  const value = read(name);
  if (value === null) throw invalidField(name, 'Enter a number');
  return value;
};

const readLiftable = (
  values: Values,
  term: Term,
  read: (name: string) => number | null,
): number | typeof NO_LIMIT | null =>
  values[modeField(term)] === NO_LIMIT ? NO_LIMIT : readOwn(values, term, read);

const whole = (values: Values, min: number, max: number) => (name: string) =>
  readWhole(values, name, min, max);

const SELF_SERVICE: Record<string, boolean> = { yes: true, no: false };

/** Reads the form of a license's terms. */
const readTerms = (values: Values, rows: ValueRow[]) => {
  const entitlements = readOverrides('terms.entitlements', rows);
  return {
    max_activations: readLiftable(values, 'max_activations', whole(values, 1, MAX_SEATS)),
    lease_seconds: readLiftable(values, 'lease_seconds', (name) => readLease(values, name)),
    offline_days: readOwn(values, 'offline_days', whole(values, 0, MAX_OFFLINE_DAYS)),
    max_transfers: readLiftable(values, 'max_transfers', whole(values, 0, MAX_SEATS)),
    self_service: SELF_SERVICE[values[modeField('self_service')] ?? ''] ?? null,
    grace_days: readOwn(values, 'grace_days', whole(values, 0, MAX_GRACE_DAYS)),
    entitlements: Object.keys(entitlements).length > 0 ? entitlements : null,
    updates_until: values['updates_until'] || null,
  };
};

interface TermsProps {
  license: LicenseBody;
  product: Product | null;
}

const inheritedText = (term: Term, product: Product | null) =>
  `${product?.terms[term] === undefined ? 'Default' : 'From the product'}: ${termText(term, termsOf({ terms: {} }, product))}`;

const modeOf = (own: unknown): Mode => {
  if (own === undefined) return 'inherit';
  return own === NO_LIMIT ? NO_LIMIT : 'own';
};

type NumberTerm = Exclude<Term, 'self_service'>;

/** Chooses whether the license inherits a term, has its own value, or lifts the product's limit. */
const OverrideField = ({
  license,
  product,
  term,
  lifted,
  children,
}: TermsProps & {
  term: NumberTerm;
  /** What the term is called without the limit, if it can be lifted. */
  lifted?: string;
  children: (value: number | null) => ReactNode;
}) => {
  const own = license.terms[term];
  const [mode, setMode] = useState(modeOf(own));
  const value = typeof own === 'number' ? own : (product?.terms[term] ?? null);
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <SelectField
        label={TERM_NAMES[term]}
        name={modeField(term)}
        value={mode}
        onChange={(event) => setMode(event.currentTarget.value as Mode)}
        hint={TERM_HINTS[term]}
      >
        <option value="inherit">{inheritedText(term, product)}</option>
        <option value="own">Own value</option>
        {lifted && <option value={NO_LIMIT}>{lifted}</option>}
      </SelectField>
      {mode === 'own' && children(value)}
    </div>
  );
};

const OwnNumber = ({ term, label, value }: { term: NumberTerm; label: string; value: number | null }) => (
  <TextField
    label={label}
    name={fieldOfTerm(term)}
    inputMode="numeric"
    autoComplete="off"
    maxLength={9}
    defaultValue={value ?? ''}
    className="nums"
  />
);

const SelfServiceField = ({ license, product }: TermsProps) => {
  const own = license.terms.self_service;
  return (
    <SelectField
      label={TERM_NAMES.self_service}
      name={modeField('self_service')}
      defaultValue={own === undefined ? 'inherit' : own ? 'yes' : 'no'}
      hint={TERM_HINTS.self_service}
    >
      <option value="inherit">{inheritedText('self_service', product)}</option>
      <option value="yes">On</option>
      <option value="no">Off</option>
    </SelectField>
  );
};

const EditForm = ({ license: current, product, onClose }: TermsProps & { onClose: () => void }) => {
  const { opened, changesTo } = useOpened({ ...current.terms, updates_until: current.updates_until });
  const { updates_until: openedUntil, ...openedTerms } = opened;
  // The license may change while the form is open, which then only sends what was changed in it.
  const [license] = useState({ ...current, terms: openedTerms, updates_until: openedUntil });
  const edit = useMutation({ ...editLicense(license.id), onSuccess: () => showToast('Terms changed') });
  const draft = useDraft();
  const [rows, setRows] = useState(
    () => draftRows(draft, 'terms.entitlements') ?? rowsOf(license.terms.entitlements ?? {}),
  );
  const send = (values: Values) => {
    const { updates_until, ...changes } = changesTo(readTerms(values, rows));
    const json = { terms: changes, ...(updates_until !== undefined && { updates_until }) };
    edit.mutate(json, { onSuccess: onClose });
  };
  const terms = { license, product };
  return (
    <Form write={edit} onSend={send} draft={draft}>
      <OverrideField {...terms} term="max_activations" lifted="No limit">
        {(value) => <OwnNumber term="max_activations" label="Number of seats" value={value} />}
      </OverrideField>
      <OverrideField {...terms} term="lease_seconds" lifted="Until released">
        {(value) => <LeaseField label="Lease" name={fieldOfTerm('lease_seconds')} seconds={value} />}
      </OverrideField>
      <OverrideField {...terms} term="offline_days">
        {(value) => <OwnNumber term="offline_days" label="Number of days" value={value} />}
      </OverrideField>
      <OverrideField {...terms} term="max_transfers" lifted="No limit">
        {(value) => <OwnNumber term="max_transfers" label="Number of changes" value={value} />}
      </OverrideField>
      <SelfServiceField {...terms} />
      <OverrideField {...terms} term="grace_days">
        {(value) => <OwnNumber term="grace_days" label="Number of days" value={value} />}
      </OverrideField>
      <TextField
        label="Updates until"
        name="updates_until"
        type="date"
        defaultValue={license.updates_until ?? ''}
        hint="The last release date that the license covers. Leave empty to cover all versions."
      />
      <ValuesField
        name="terms.entitlements"
        label="Entitlements"
        noun="entitlement"
        example="export"
        canRemove
        hint="Added to the product’s entitlements. An entry with the same name replaces the product’s, or removes it."
        rows={rows}
        onChange={setRows}
      />
      <FormActions onCancel={onClose} isBusy={edit.isPending}>
        Save terms
      </FormActions>
    </Form>
  );
};

export const EditTerms = ({
  isOpen,
  onClose,
  ...terms
}: TermsProps & { isOpen: boolean; onClose: () => void }) => (
  <Dialog
    isOpen={isOpen}
    onClose={onClose}
    title="Edit terms"
    hint="What this license allows, where it differs from its product."
    width="max-w-xl"
  >
    <Drafted name={`edit-terms.${terms.license.id}`}>
      <EditForm {...terms} onClose={onClose} />
    </Drafted>
  </Dialog>
);
