import { MAX_EMAIL_LENGTH } from '../../../shared/rules/accounts.ts';
import { labelOf, LICENSE_FIELDS, TEXT_FIELDS } from '../../../shared/rules/license-fields.ts';
import type { LicenseBody } from '../../data/queries.ts';
import { TextField } from '../../ui/form.tsx';
import { ProductField } from './product-field.tsx';

/** The customer, text, and product fields of the create and edit forms. */
export const CustomerFields = ({
  license,
  product,
  onProduct,
  emailHint,
  autoFocus = false,
}: {
  license?: LicenseBody;
  /** The code or label that is chosen, or nothing. */
  product: string;
  onProduct: (product: string) => void;
  emailHint?: string | undefined;
  autoFocus?: boolean;
}) => (
  <>
    <TextField
      label="Customer email"
      name="customer_email"
      type="email"
      autoFocus={autoFocus}
      // The browser would suggest the user's own address.
      autoComplete="off"
      maxLength={MAX_EMAIL_LENGTH}
      placeholder="grace@example.com"
      defaultValue={license?.customer_email}
      hint={emailHint}
    />
    <div className="grid gap-4 sm:flex sm:flex-wrap sm:*:grow sm:*:basis-52">
      {TEXT_FIELDS.map((field) => (
        <TextField
          key={field}
          label={labelOf(field)}
          name={field}
          autoComplete="off"
          maxLength={LICENSE_FIELDS[field].maxLength}
          placeholder={LICENSE_FIELDS[field].example}
          defaultValue={license?.[field] ?? ''}
        />
      ))}
    </div>
    <ProductField value={product} onChoose={onProduct} />
  </>
);
