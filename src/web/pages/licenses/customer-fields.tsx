import type { License } from '../../data/queries.ts';
import { TextField } from '../../ui/form.tsx';

/** Whose license it is, and for what: the same when it is made and when it is changed. */
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
      label="Customer e-mail"
      name="customer_email"
      type="email"
      autoFocus={autoFocus}
      // Somebody else's address: what the browser knows of its owner is no help.
      autoComplete="off"
      maxLength={254}
      placeholder="grace@example.com"
      defaultValue={license?.customer_email}
      hint={emailHint}
    />
    <div className="grid gap-4 sm:grid-cols-2">
      <TextField
        label="Customer name"
        name="customer_name"
        autoComplete="off"
        maxLength={200}
        placeholder="Grace Hopper"
        defaultValue={license?.customer_name ?? ''}
      />
      <TextField
        label="Product"
        name="product"
        autoComplete="off"
        maxLength={200}
        placeholder="Studio Pro"
        defaultValue={license?.product ?? ''}
      />
    </div>
  </>
);
