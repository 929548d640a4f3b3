import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type KeyboardEvent, useState } from 'react';
import { allProductsQuery, type Product } from '../../data/queries.ts';
import { SelectField, TextField } from '../../ui/form.tsx';
import { CreateProduct } from '../products/create-product.tsx';
import { draftOf, summarize } from '../products/terms.ts';

/** No product or label begins with a space. */
const CREATE = ' create';
/** With more products than these, the field has a search. */
const MANY = 12;

const textOf = ({ code, name }: Product) => (name === null ? code : `${name} (${code})`);

const includes = (product: Product, typed: string) =>
  textOf(product).toLowerCase().includes(typed.trim().toLowerCase());

const hintOf = (value: string, products: Product[] | undefined): string | undefined => {
  if (!products) return undefined;
  const product = products.find(({ code }) => code === value);
  if (product) return `${summarize(draftOf(product)).join(' · ')}.`;
  if (value !== '') return 'Not a product, so the license inherits no terms from it.';
  if (products.length === 0) return 'A product says what its licenses allow. Create your first one here.';
  return 'Without a product, a license has only its own terms.';
};

/** Chooses one of the account's products, or creates one. A license keeps a label that isn't one until another is chosen. */
export const ProductField = ({ value, onChoose }: { value: string; onChoose: (code: string) => void }) => {
  const client = useQueryClient();
  const { data: products, isError } = useQuery(allProductsQuery);
  const [kept] = useState(value);
  const [typed, setTyped] = useState('');
  const [isCreating, setCreating] = useState(false);

  const found = products?.filter((product) => product.code === value || includes(product, typed)) ?? [];
  const isListed = (code: string) => products?.some((product) => product.code === code) ?? false;
  const labels = [...new Set([kept, value])].filter((label) => label !== '' && !isListed(label));
  const choose = (code: string) => (code === CREATE ? setCreating(true) : onChoose(code));
  const chooseFirst = (event: KeyboardEvent) => {
    if (event.key !== 'Enter') return;
    event.preventDefault();
    const first = products?.find((product) => includes(product, typed));
    if (first) onChoose(first.code);
  };
  const select = (product: Product) => {
    client.setQueryData(allProductsQuery.queryKey, (list) => list && [...list, product]);
    onChoose(product.code);
    setCreating(false);
  };
  return (
    <>
      {products && products.length > MANY && (
        <TextField
          label="Find a product"
          name="product_search"
          type="search"
          autoComplete="off"
          placeholder="Name or code"
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          onKeyDown={chooseFirst}
          hint={typed.trim() !== '' && `${found.filter((product) => includes(product, typed)).length} found.`}
        />
      )}
      <SelectField
        label="Product"
        name="product"
        value={value}
        onChange={(event) => choose(event.currentTarget.value)}
        hint={isError && !products ? 'Your products couldn’t be loaded.' : hintOf(value, products)}
      >
        <option value="">No product</option>
        {labels.map((label) => (
          <option key={label} value={label}>
            {products ? `${label} (a label, not a product)` : label}
          </option>
        ))}
        {found.map((product) => (
          <option key={product.code} value={product.code}>
            {textOf(product)}
          </option>
        ))}
        <option value={CREATE}>Create product…</option>
      </SelectField>
      <CreateProduct
        isOpen={isCreating}
        hint="You can set its other terms on its page."
        onCreated={select}
        onClose={() => setCreating(false)}
      />
    </>
  );
};
