import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { addDays } from '../../../shared/rules/dates.ts';
import { TEXT_FIELDS } from '../../../shared/rules/license-fields.ts';
import {
  LICENSE_KEY_PATTERN,
  MAX_LICENSE_KEY_LENGTH,
  MIN_LICENSE_KEY_LENGTH,
} from '../../../shared/rules/licenses.ts';
import { invalidField } from '../../data/error.ts';
import { type CreateLicense, createLicense } from '../../data/license-mutations.ts';
import { accountQuery, allProductsQuery, type LicenseBody } from '../../data/queries.ts';
import { formatDate, plural } from '../../lib/format.ts';
import { FormActions } from '../../ui/dialog.tsx';
import { draftRows, useDraft } from '../../ui/draft.tsx';
import { Form, TextField } from '../../ui/form.tsx';
import { useOnce } from '../../ui/use-once.ts';
import { readValues, type ValueRow } from '../../ui/values.ts';
import { CustomerFields } from './customer-fields.tsx';
import { ExpiryField, type ExpiryKind, readExpiry } from './expiry-field.tsx';
import { MetadataField } from './metadata-field.tsx';

const productLabel = (days: number | null | undefined) => {
  if (days === undefined) return 'From the product';
  return days === null ? 'Never' : `From the product: ${plural(days, 'day')}`;
};

/** The form begins with what a license of the product gets if the form says nothing. */
const choicesFor = (productDays: number | null | undefined): { kind: ExpiryKind; label: string }[] => [
  { kind: 'product', label: productLabel(productDays) },
  ...(productDays === null ? [] : [{ kind: 'never' as const, label: 'Never' }]),
  { kind: 'date', label: 'On a date' },
  { kind: 'days', label: 'After a number of days' },
];

const daysHint = (days: number, today: string) => `Valid through ${formatDate(addDays(today, days))}, UTC.`;

const isLicenseKey = (text: string) =>
  text.length >= MIN_LICENSE_KEY_LENGTH &&
  text.length <= MAX_LICENSE_KEY_LENGTH &&
  LICENSE_KEY_PATTERN.test(text);

/** Reads the form's fields and leaves out the empty ones. */
const inputOf = (values: Record<string, string>, metadata: LicenseBody['metadata']): CreateLicense => {
  const fields = (...names: string[]): Record<string, string> =>
    Object.fromEntries(
      names.flatMap((name) => {
        const value = values[name]?.trim();
        return value ? [[name, value]] : [];
      }),
    );
  const key = fields('license_key');
  if (key['license_key'] !== undefined && !isLicenseKey(key['license_key'])) {
    throw invalidField(
      'license_key',
      `Use ${MIN_LICENSE_KEY_LENGTH} to ${MAX_LICENSE_KEY_LENGTH} letters, digits, dots, hyphens, and underscores`,
    );
  }
  return {
    ...fields('customer_email', ...TEXT_FIELDS, 'product'),
    ...(values['expiry'] !== 'product' && readExpiry(values)),
    ...key,
    ...(Object.keys(metadata).length > 0 && { metadata }),
  };
};

export const CreateForm = ({
  isAnother,
  onCreated,
  onClose,
}: {
  /** Whether the form follows a license that was just created, and takes the focus. */
  isAnother: boolean;
  onCreated: (license: LicenseBody) => void;
  onClose: () => void;
}) => {
  const { data: account } = useQuery(accountQuery);
  const { data: products } = useQuery(allProductsQuery);
  const draft = useDraft();
  const [product, setProduct] = useState(draft?.values?.['product'] ?? '');
  const chosen = products?.find(({ code }) => code === product);
  // Until the products are read, the chosen one may have a duration.
  const productDays = product && !products ? undefined : (chosen?.terms.duration_days ?? null);
  const [rows, setRows] = useState<ValueRow[]>(() => draftRows(draft, 'metadata') ?? []);
  const create = useOnce(createLicense, onCreated);

  const send = (values: Record<string, string>) =>
    create.mutate(inputOf(values, readValues('metadata', rows)));
  return (
    <Form write={create} onSend={send} draft={draft}>
      <CustomerFields
        autoFocus={isAnother}
        product={product}
        onProduct={setProduct}
        emailHint={account && `Defaults to your own, ${account.email}.`}
      />
      <ExpiryField
        label="Expires"
        choices={choicesFor(productDays)}
        chosen="product"
        productDays={productDays}
        neverHint="Valid until suspended or revoked."
        daysHint={daysHint}
      />
      <TextField
        label="License key"
        name="license_key"
        autoComplete="off"
        spellCheck={false}
        maxLength={MAX_LICENSE_KEY_LENGTH}
        hint="Defaults to a generated key that is easy to type."
        className="font-mono"
      />
      <MetadataField rows={rows} onChange={setRows} />
      <FormActions onCancel={onClose} isBusy={create.isPending}>
        Create license
      </FormActions>
    </Form>
  );
};
