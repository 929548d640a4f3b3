import type { FoundProduct } from '../../../shared/rules/import/products.ts';
import { didYouMean } from '../../../shared/rules/nearest-products.ts';
import type { Product } from '../../data/queries.ts';
import { plural } from '../../lib/format.ts';
import { Choice, SelectField } from '../../ui/form.tsx';

/** No code is empty. */
export const NO_PRODUCT = '';
/** Keeps what the file says, which is no product. */
export const AS_IT_IS = ' as it is';
const MAX_SHOWN = 30;

const nameOf = ({ code, name }: Product) => (name === null ? code : `${name} (${code})`);

/** Says which products the file's names mean. Nothing is shown if the file has the codes. */
export const ProductMap = ({
  found,
  products,
  codes,
  onChange,
  allowsLabels,
  onAllowLabels,
}: {
  found: FoundProduct[];
  products: Product[];
  codes: Record<string, string>;
  onChange: (product: string, code: string) => void;
  allowsLabels: boolean;
  onAllowLabels: (allows: boolean) => void;
}) => {
  const unclear = found.filter(({ product, code }) => code !== product);
  if (unclear.length === 0) return null;
  const isUnknown = ({ product, code }: FoundProduct) => (codes[product] ?? code ?? AS_IT_IS) === AS_IT_IS;
  return (
    <section aria-label="Products" className="grid gap-4 border-t border-line p-5">
      <p className="text-sm text-muted">
        Which of your products are these? A license gets its seats and other terms from its product.
      </p>
      <div className="grid gap-4 sm:grid-cols-2">
        {unclear.slice(0, MAX_SHOWN).map((item) => (
          <SelectField
            key={item.product}
            label={`${item.product}, ${plural(item.lines, 'row')}`}
            name={`product ${item.product}`}
            {...(isUnknown(item) &&
              !allowsLabels && { hint: `Not a product, so its rows fail.${didYouMean(item.nearest)}` })}
            value={codes[item.product] ?? item.code ?? AS_IT_IS}
            onChange={({ currentTarget }) => onChange(item.product, currentTarget.value)}
          >
            <option value={AS_IT_IS}>{item.product}, as in the file</option>
            <option value={NO_PRODUCT}>No product</option>
            {products.map((product) => (
              <option key={product.code} value={product.code}>
                {nameOf(product)}
              </option>
            ))}
          </SelectField>
        ))}
      </div>
      {unclear.length > MAX_SHOWN && (
        <p className="text-sm text-muted">
          {plural(unclear.length - MAX_SHOWN, 'more name')}. Correct these in the file.
        </p>
      )}
      {(unclear.some(isUnknown) || allowsLabels) && (
        <Choice
          label="Allow products that don’t exist"
          hint="They become mere labels, and their licenses inherit no terms."
          checked={allowsLabels}
          onChange={({ currentTarget }) => onAllowLabels(currentTarget.checked)}
        />
      )}
    </section>
  );
};
