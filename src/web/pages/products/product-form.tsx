import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { saveProduct } from '../../data/license-mutations.ts';
import type { Product } from '../../data/queries.ts';
import { Button } from '../../ui/button.tsx';
import { Card, CardHeader } from '../../ui/card.tsx';
import { Form } from '../../ui/form.tsx';
import { showToast } from '../../ui/toast.tsx';
import { rowsOf } from '../../ui/values.ts';
import { InApplication } from './in-application.tsx';
import { NameField } from './name-field.tsx';
import { Preview } from './preview.tsx';
import { draftOf, readDraft, readTerms } from './terms.ts';
import { TermsFields } from './terms-fields.tsx';

const textsOf = (form: HTMLFormElement): Record<string, string> => {
  const texts: Record<string, string> = {};
  for (const [name, value] of new FormData(form)) if (typeof value === 'string') texts[name] = value;
  return texts;
};

/** Edits a product's name and terms, next to a preview that follows each change. */
export const ProductForm = ({ product }: { product: Product }) => {
  const [saved] = useState(() => draftOf(product));
  const [values, setValues] = useState<Record<string, string> | null>(null);
  const [rows, setRows] = useState(() => rowsOf(saved.entitlements ?? {}));
  const save = useMutation({ ...saveProduct(product.code), onSuccess: () => showToast('Product saved') });
  const send = (texts: Record<string, string>) =>
    save.mutate({ name: texts['name']?.trim() || null, terms: readTerms(texts, rows) });
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-5 xl:grid-cols-[minmax(0,1fr)_30rem]">
      <Card>
        <CardHeader
          title="Terms"
          hint="Changes apply at once to every license of this product, except where the license has terms of its own."
        />
        <Form
          write={save}
          onSend={send}
          onChange={(event) => setValues(textsOf(event.currentTarget))}
          className="px-5 pt-1 pb-5"
        >
          <NameField value={product.name} />
          <TermsFields terms={saved} rows={rows} onRows={setRows} />
          <div className="flex">
            <Button type="submit" variant="solid" isBusy={save.isPending}>
              Save changes
            </Button>
          </div>
        </Form>
      </Card>
      <div className="grid grid-cols-[minmax(0,1fr)] gap-5">
        <Preview code={product.code} terms={readDraft(saved, values, rows)} />
        <InApplication product={product.code} licenseKey="YOUR_CUSTOMERS_LICENSE_KEY" />
      </div>
    </div>
  );
};
