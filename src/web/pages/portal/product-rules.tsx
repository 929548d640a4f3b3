import { useQuery } from '@tanstack/react-query';
import {
  PRODUCT_PERMISSIONS,
  type PortalPermissions,
  type ProductPermission,
} from '../../../shared/rules/portal.ts';
import { allProductsQuery } from '../../data/queries.ts';
import type { PortalSettings } from '../../data/settings-queries.ts';
import { Button } from '../../ui/button.tsx';
import { Choice, ChoiceGroup } from '../../ui/form.tsx';

type Products = PortalSettings['products'];

const LABELS: Record<ProductPermission, string> = {
  release_seat: 'Release a machine’s seat',
  offline_file: 'Get an offline file',
  rotate_key: 'Change their license key',
};

/** What customers may do with the licenses of single products. */
export const ProductRules = ({
  products,
  allow,
  onChange,
}: {
  products: Products;
  allow: PortalPermissions;
  onChange: (products: Products) => void;
}) => {
  const { data: all = [] } = useQuery(allProductsQuery);
  const nameOf = (code: string) => all.find((product) => product.code === code)?.name ?? code;
  const others = all.filter(({ code }) => !(code in products));
  const { change_email: _, ...general } = allow;
  const remove = (code: string) =>
    onChange(Object.fromEntries(Object.entries(products).filter(([other]) => other !== code)));
  return (
    <>
      {Object.entries(products).map(([code, rules]) => (
        <div key={code} className="grid gap-3 rounded-lg border border-line p-4">
          <ChoiceGroup label={`With licenses of ${nameOf(code)}, they may`}>
            {PRODUCT_PERMISSIONS.map((name) => (
              <Choice
                key={name}
                label={LABELS[name]}
                checked={rules[name] ?? allow[name]}
                onChange={(event) =>
                  onChange({ ...products, [code]: { ...general, ...rules, [name]: event.target.checked } })
                }
              />
            ))}
          </ChoiceGroup>
          <div>
            <Button size="sm" onClick={() => remove(code)}>
              Same as the others
            </Button>
          </div>
        </div>
      ))}
      {others.length > 0 && (
        <label className="grid gap-1.5 text-sm font-medium">
          A product with other rules
          <select
            value=""
            onChange={(event) => onChange({ ...products, [event.target.value]: general })}
            className="h-9 w-full rounded-lg border border-line-strong bg-surface px-3 text-base font-normal"
          >
            <option value="">Choose a product</option>
            {others.map(({ code, name }) => (
              <option key={code} value={code}>
                {name ?? code}
              </option>
            ))}
          </select>
        </label>
      )}
    </>
  );
};
