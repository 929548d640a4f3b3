import { useMutation, useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { ApiError } from '../../data/error.ts';
import { deleteProduct, saveProduct } from '../../data/license-mutations.ts';
import { type Product, productQuery } from '../../data/queries.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Card, CardHeader } from '../../ui/card.tsx';
import { CopyIcon } from '../../ui/copy.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { Drafted, draftRows, useDraft, useOpened } from '../../ui/draft.tsx';
import { Form, textsOf } from '../../ui/form.tsx';
import { LoadError } from '../../ui/notice.tsx';
import { Page, UpLink } from '../../ui/page.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { showToast } from '../../ui/toast.tsx';
import { rowsOf } from '../../ui/values.ts';
import { BuyerMail } from './buyer-mail.tsx';
import { InApplication } from './in-application.tsx';
import { NameField } from './name-field.tsx';
import { Preview } from './preview.tsx';
import { TermsFields } from './terms-fields.tsx';
import { draftOf, readDraft, readTerms } from './terms.ts';

const valuesOf = (product: Product) => ({ name: product.name, ...draftOf(product) });

/** Edits a product's name and terms, next to a preview that follows each change. */
const ProductForm = ({ product }: { product: Product }) => {
  const { opened, changesTo, saved } = useOpened(valuesOf(product));
  const [values, setValues] = useState<Record<string, string> | null>(null);
  const draft = useDraft();
  const [rows, setRows] = useState(
    () => draftRows(draft, 'terms.entitlements') ?? rowsOf(opened.entitlements ?? {}),
  );
  const save = useMutation({ ...saveProduct(product.code), onSuccess: () => showToast('Product saved') });
  const send = (texts: Record<string, string>) => {
    const next = { name: texts['name']?.trim() || null, ...readTerms(texts, rows) };
    const changes = changesTo(next);
    const edit = (current: Product) => {
      const { name, ...terms } = { ...valuesOf(current), ...changes };
      return { name, terms };
    };
    save.mutate(edit, { onSuccess: () => saved(next) });
  };
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
          draft={draft}
          onChange={(event) => setValues(textsOf(new FormData(event.currentTarget)))}
          className="px-5 pt-1 pb-5"
        >
          <NameField value={opened.name} />
          <TermsFields terms={opened} rows={rows} onRows={setRows} />
          <div className="flex">
            <Button type="submit" variant="solid" isBusy={save.isPending}>
              Save changes
            </Button>
          </div>
        </Form>
      </Card>
      <div className="grid grid-cols-[minmax(0,1fr)] gap-5">
        <Preview code={product.code} terms={readDraft(opened, values, rows)} />
        <InApplication product={product.code} licenseKey="YOUR_CUSTOMERS_LICENSE_KEY" />
      </div>
    </div>
  );
};

const DeleteProduct = ({ product }: { product: Product }) => {
  const [isOpen, setOpen] = useState(false);
  const navigate = useNavigate();
  return (
    <>
      <Button size="sm" variant="danger-outline" onClick={() => setOpen(true)}>
        Delete
      </Button>
      <Confirm
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        title={`Delete ${product.name ?? product.code}?`}
        action="Delete product"
        isDangerous
        write={deleteProduct(product.code)}
        onDone={() => showToast('Product deleted')}
        lead={() => navigate({ to: '/products' })}
      >
        <p>The product and its terms are deleted. A product that licenses still name can’t be deleted.</p>
      </Confirm>
    </>
  );
};

const route = getRouteApi('/shell/products/$code');

const ABOVE = <UpLink to="/products" name="Products" />;

/** A product that gets the code of a deleted one has drafts of its own. */
const draftOfProduct = ({ code, created_at: createdAt }: Product) => `product.${code}.${createdAt}`;

const Shown = ({ product }: { product: Product }) => (
  <Page
    title={product.name ?? product.code}
    beside={
      <span className="flex items-center gap-1 text-muted">
        <code className="text-xs break-all">{product.code}</code>
        <CopyIcon text={product.code} what="code" />
      </span>
    }
    actions={
      <>
        <ButtonLink to="/licenses" search={{ product: product.code }} size="sm">
          Find its licenses
        </ButtonLink>
        <DeleteProduct product={product} />
      </>
    }
    above={ABOVE}
  >
    <Drafted name={draftOfProduct(product)}>
      <ProductForm product={product} />
    </Drafted>
    <BuyerMail code={product.code} draft={`${draftOfProduct(product)}.mail`} />
  </Page>
);

const Loading = () => (
  <Page
    title="Product"
    heading={
      <>
        <span className="sr-only">Product</span>
        <Skeleton className="h-7 w-52" />
      </>
    }
    actions={<Skeleton className="h-8 w-44" />}
    above={ABOVE}
  >
    <Skeleton className="h-[40rem] rounded-xl" />
  </Page>
);

const NoProduct = () => (
  <Page title="Product not found" hint="No product in this account has this code." above={ABOVE}>
    <div>
      <ButtonLink to="/products" variant="solid">
        See all products
      </ButtonLink>
    </div>
  </Page>
);

export const ProductPage = () => {
  const { code } = route.useParams();
  const { data, error, refetch } = useQuery(productQuery(code));
  if (error instanceof ApiError && error.code === 'product_not_found') return <NoProduct />;
  if (data) return <Shown key={code} product={data} />;
  return error ? (
    <Page title="Product" above={ABOVE}>
      <Card>
        <LoadError error={error} onRetry={() => void refetch()} />
      </Card>
    </Page>
  ) : (
    <Loading />
  );
};
