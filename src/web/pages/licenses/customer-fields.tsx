import { useInfiniteQuery } from '@tanstack/react-query';
import { useId } from 'react';
import { MAX_EMAIL_LENGTH } from '../../../shared/rules/accounts.ts';
import { MAX_CUSTOMER_NAME_LENGTH, MAX_PRODUCT_LENGTH } from '../../../shared/rules/licenses.ts';
import { type License, productsQuery } from '../../data/queries.ts';
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

/** The customer and product fields of the create and edit forms. */
export const CustomerFields = ({
  license,
  emailHint,
  autoFocus = false,
}: {
  license?: Pick<License, 'customer_email' | 'customer_name' | 'product'>;
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
    <div className="grid gap-4 sm:grid-cols-2">
      <TextField
        label="Customer name"
        name="customer_name"
        autoComplete="off"
        maxLength={MAX_CUSTOMER_NAME_LENGTH}
        placeholder="Grace Hopper"
        defaultValue={license?.customer_name ?? ''}
      />
      <ProductField value={license?.product ?? ''} />
    </div>
  </>
);
