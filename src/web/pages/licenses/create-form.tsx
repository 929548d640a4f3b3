import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { ApiError, invalidField } from '../../data/error.ts';
import { type CreateLicense, createLicense } from '../../data/mutations.ts';
import { accountQuery, type License } from '../../data/queries.ts';
import { formatDate } from '../../lib/format.ts';
import { FormActions } from '../../ui/dialog.tsx';
import { Form, TextField } from '../../ui/form.tsx';
import { CustomerFields } from './customer-fields.tsx';
import { addDays } from './dates.ts';
import { ExpiryField, type ExpiryKind, readExpiry } from './expiry-field.tsx';
import { MetadataField } from './metadata-field.tsx';
import { type Metadata, metadataOf, type MetadataRow } from './metadata.ts';

const CHOICES: { kind: ExpiryKind; label: string }[] = [
  { kind: 'never', label: 'Never' },
  { kind: 'date', label: 'On a date' },
  { kind: 'days', label: 'After a number of days' },
];

const daysHint = (days: number, today: string) => `Good through ${formatDate(addDays(today, days))}, UTC.`;

const KEY = /^[A-Za-z0-9._-]{8,128}$/;

/** Reads the form's fields and leaves out the empty ones. */
const inputOf = (values: Record<string, string>, metadata: Metadata): CreateLicense['json'] => {
  const field = (name: string) => {
    const value = values[name]?.trim();
    return value ? { [name]: value } : {};
  };
  const key = field('license_key');
  if (key['license_key'] !== undefined && !KEY.test(key['license_key'])) {
    throw invalidField('license_key', '8 to 128 letters, digits, dots, hyphens and underscores');
  }
  return {
    ...field('customer_email'),
    ...field('customer_name'),
    ...field('product'),
    ...readExpiry(values),
    ...key,
    ...(Object.keys(metadata).length > 0 && { metadata }),
  };
};

export const CreateForm = ({
  isAnother,
  onCreated,
  onClose,
}: {
  /** It takes the place of what was just created, and the focus. */
  isAnother: boolean;
  onCreated: (license: License) => void;
  onClose: () => void;
}) => {
  const { data: account } = useQuery(accountQuery);
  const [rows, setRows] = useState<MetadataRow[]>([]);
  const [idempotencyKey, setIdempotencyKey] = useState(() => crypto.randomUUID());
  const create = useMutation({
    ...createLicense,
    onSuccess: onCreated,
    onError: (error) => {
      if (error instanceof ApiError && error.code === 'idempotency_conflict')
        setIdempotencyKey(crypto.randomUUID());
    },
  });

  const send = (values: Record<string, string>) =>
    create.mutate({ json: inputOf(values, metadataOf(rows)), idempotencyKey });
  return (
    <Form write={create} onSend={send}>
      <CustomerFields
        autoFocus={isAnother}
        emailHint={account && `Left empty: your own, ${account.email}.`}
      />
      <ExpiryField
        label="Expires"
        choices={CHOICES}
        chosen="never"
        neverHint="Good until suspended or revoked."
        daysHint={daysHint}
      />
      <TextField
        label="License key"
        name="license_key"
        autoComplete="off"
        spellCheck={false}
        maxLength={128}
        hint="Left empty: a new one that is easy to type."
        className="font-mono"
      />
      <MetadataField rows={rows} onChange={setRows} />
      <FormActions onCancel={onClose} isBusy={create.isPending}>
        Create license
      </FormActions>
    </Form>
  );
};
