import { useInfiniteQuery } from '@tanstack/react-query';
import { useId } from 'react';
import { MAX_EMAIL_LENGTH } from '../../../shared/rules/accounts.ts';
import { labelOf, LICENSE_FIELDS, TEXT_FIELDS } from '../../../shared/rules/license-fields.ts';
import { MAX_PRODUCT_LENGTH } from '../../../shared/rules/licenses.ts';
import { type LicenseBody, productsQuery } from '../../data/queries.ts';
import { TextField } from '../../ui/form.tsx';

/** Suggests the codes of the account's products. */
const ProductField = ({ value }: { value: string }) => {
  const { data } = useInfiniteQuery(productsQuery);
  const id = useId();
  return (
    <>
      <TextField
        label="Product"
        name="product"
        autoComplete="off"
        maxLength={MAX_PRODUCT_LENGTH}
        placeholder="Studio Pro"
        defaultValue={value}
        list={id}
      />
      <datalist id={id}>
        {data?.pages.flatMap((page) =>
          page.data.map(({ code, name }) => (
            <option key={code} value={code}>
              {name}
            </option>
          )),
        )}
      </datalist>
    </>
  );
};

/** The customer, text, and product fields of the create and edit forms. */
export const CustomerFields = ({
  license,
  emailHint,
  autoFocus = false,
}: {
  license?: LicenseBody;
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
      <ProductField value={license?.product ?? ''} />
    </div>
  </>
);
