import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { byField, TEXT_FIELDS } from '../../../shared/rules/license-fields.ts';
import { canChangeExpiry } from '../../../shared/rules/licenses.ts';
import { invalidField } from '../../data/error.ts';
import { editLicense } from '../../data/license-mutations.ts';
import type { LicenseBody } from '../../data/queries.ts';
import { Dialog, FormActions } from '../../ui/dialog.tsx';
import { Drafted, draftRows, useDraft, useOpened } from '../../ui/draft.tsx';
import { Form } from '../../ui/form.tsx';
import { showToast } from '../../ui/toast.tsx';
import { readValues, rowsOf } from '../../ui/values.ts';
import { CustomerFields } from './customer-fields.tsx';
import { ExpiryField, type ExpiryKind, readExpiry } from './expiry-field.tsx';
import { MetadataField } from './metadata-field.tsx';

const CHOICES: { kind: ExpiryKind; label: string }[] = [
  { kind: 'never', label: 'Never' },
  { kind: 'date', label: 'On a date' },
];

type Metadata = LicenseBody['metadata'];

/** What the API merges into the metadata: entries that differ, and null for those that are gone. */
const metadataChanges = (before: Metadata, after: Metadata) => ({
  ...Object.fromEntries(
    Object.keys(before).flatMap((name) => (Object.hasOwn(after, name) ? [] : [[name, null]])),
  ),
  ...Object.fromEntries(Object.entries(after).filter(([name, value]) => value !== before[name])),
});

const readEdited = (license: LicenseBody, values: Record<string, string>, metadata: Metadata) => {
  const text = (name: string) => values[name]?.trim() || null;
  const email = text('customer_email');
  if (email === null) throw invalidField('customer_email', 'A license needs an email address');
  return {
    customer_email: email,
    ...byField(TEXT_FIELDS, text),
    product: text('product'),
    ...(canChangeExpiry(license.status) && readExpiry(values)),
    metadata,
  };
};

/** The fields that the form has. */
const editedOf = (license: LicenseBody) => ({
  customer_email: license.customer_email,
  ...byField(TEXT_FIELDS, (name) => license[name]),
  product: license.product,
  expires_at: license.expires_at,
  metadata: license.metadata,
});

const EditForm = ({ license: current, onClose }: { license: LicenseBody; onClose: () => void }) => {
  const { opened, known, changesTo } = useOpened(editedOf(current));
  // The license may change while the form is open, which then only sends what was changed in it.
  const [license] = useState({ ...current, ...opened });
  const edit = useMutation({ ...editLicense(license.id), onSuccess: () => showToast('License changed') });
  const draft = useDraft();
  const [rows, setRows] = useState(() => draftRows(draft, 'metadata') ?? rowsOf(license.metadata));
  const [product, setProduct] = useState(draft?.values?.['product'] ?? license.product ?? '');
  const send = (values: Record<string, string>) => {
    const edited = readEdited(license, values, readValues('metadata', rows));
    // Only what differs: the API would reject an unchanged expiry date in the past.
    const { metadata: _, ...changes } = changesTo(edited);
    const entries = Object.assign(
      {},
      ...known().map(({ metadata = {} }) => metadataChanges(metadata, edited.metadata)),
    ) as ReturnType<typeof metadataChanges>;
    const json = { ...changes, ...(Object.keys(entries).length > 0 && { metadata: entries }) };
    if (Object.keys(json).length > 0) edit.mutate(json, { onSuccess: onClose });
    else onClose();
  };
  return (
    <Form write={edit} onSend={send} draft={draft}>
      <CustomerFields license={license} product={product} onProduct={setProduct} />
      {canChangeExpiry(license.status) ? (
        <ExpiryField
          label="Expires"
          choices={CHOICES}
          chosen={license.expires_at === null ? 'never' : 'date'}
          date={license.expires_at}
          neverHint="Valid until suspended or revoked."
        />
      ) : (
        <p className="text-sm text-muted">The expiry date of a {license.status} license can’t be changed.</p>
      )}
      <MetadataField rows={rows} onChange={setRows} />
      <FormActions onCancel={onClose} isBusy={edit.isPending}>
        Save changes
      </FormActions>
    </Form>
  );
};

export const EditLicense = ({
  license,
  isOpen,
  onClose,
}: {
  license: LicenseBody;
  isOpen: boolean;
  onClose: () => void;
}) => (
  <Dialog isOpen={isOpen} onClose={onClose} title="Edit license" width="max-w-xl">
    <Drafted name={`edit-license.${license.id}`}>
      <EditForm license={license} onClose={onClose} />
    </Drafted>
  </Dialog>
);
