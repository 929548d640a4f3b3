import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { ApiError } from '../../data/error.ts';
import { accountQuery, type License } from '../../data/queries.ts';
import { formatDate } from '../../lib/format.ts';
import { FormActions } from '../../ui/dialog.tsx';
import { Form, TextField } from '../../ui/form.tsx';
import { CustomerFields } from './customer-fields.tsx';
import { addDays } from './dates.ts';
import { ExpiryField, type ExpiryKind } from './expiry-field.tsx';
import { MetadataField } from './metadata-field.tsx';
import { metadataOf, type MetadataRow } from './metadata.ts';
import { inputOf, sendCreate } from './send-create.ts';

const CHOICES: { kind: ExpiryKind; label: string }[] = [
  { kind: 'never', label: 'Never' },
  { kind: 'date', label: 'On a date' },
  { kind: 'days', label: 'After a number of days' },
];

const daysHint = (days: number, today: string) => `Good through ${formatDate(addDays(today, days))}, UTC.`;

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
  const [attempt, setAttempt] = useState(() => crypto.randomUUID());

  const send = async (values: Record<string, string>) => {
    try {
      onCreated(await sendCreate(inputOf(values, metadataOf(rows)), attempt));
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'idempotency_conflict') throw error;
      setAttempt(crypto.randomUUID());
      throw new Error(
        'An earlier attempt from this form did create a license, though its answer was lost: it is in the list. Send again to create one more.',
        { cause: error },
      );
    }
  };
  return (
    <Form onSend={send}>
      {({ isBusy }) => (
        <>
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
          <FormActions onCancel={onClose} isBusy={isBusy}>
            Create license
          </FormActions>
        </>
      )}
    </Form>
  );
};
