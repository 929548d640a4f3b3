import type { Copy } from './copy.ts';
import type { ChangedRow } from '../rules/acks.ts';
import type { Rows } from '../rules/rows.ts';

/** Returns what rows from the feed will change. Call it before the copy applies them. */
export const changedRows = (
  copy: Pick<Copy, 'account' | 'key' | 'license' | 'progress'>,
  { account, keys, licenses, products, erasedKeys }: Rows,
): ChangedRow[] => {
  const { complete } = copy.progress();
  const isChanged = account && JSON.stringify(account) !== JSON.stringify(copy.account());
  return [
    ...(isChanged ? [{ kind: 'account', ref: '', isNew: false } as const] : []),
    ...keys.map(({ id }) => ({ kind: 'key', ref: id, isNew: complete && !copy.key(id) }) as const),
    ...licenses.map(
      ({ licenseKey }) =>
        ({ kind: 'license', ref: licenseKey, isNew: complete && !copy.license(licenseKey) }) as const,
    ),
    ...products.map(({ code }) => ({ kind: 'product', ref: code, isNew: false }) as const),
    ...erasedKeys.map((licenseKey) => ({ kind: 'erased', ref: licenseKey, isNew: false }) as const),
  ];
};
