import { createLru } from '../../shared/memory/lru.ts';
import { candidateKeys } from '../../shared/rules/license-key.ts';
import type { ProductTerms } from '../../shared/rules/terms.ts';
import type { CopiedKey, CopiedLicense, Rows } from '../rules/rows.ts';
import type { CopyTables } from './copy-tables.ts';

/** Minimum sizes of the in-memory caches; each may grow to twice its size (see `createLru`). */
const KEYS_IN_MEMORY = 5_000;
const LICENSES_IN_MEMORY = 5_000;

/** Reads the current tables of the copy, and keeps in memory what was read lately. */
export const openCopyCache = (tables: CopyTables) => {
  let keysInMemory = createLru<CopiedKey>(KEYS_IN_MEMORY);
  let licensesInMemory = createLru<CopiedLicense>(LICENSES_IN_MEMORY);
  let products: Map<string, ProductTerms | null> | null = null;

  const license = (licenseKey: string): CopiedLicense | null => {
    const cached = licensesInMemory.get(licenseKey);
    if (cached) return cached;
    const found = tables.readLicense(licenseKey);
    if (found) licensesInMemory.set(licenseKey, found);
    return found;
  };

  return {
    license,

    /** Looks a license up by its key as presented, then by the generated key that was probably meant. */
    findLicense: (presented: string): CopiedLicense | null => {
      const cached = licensesInMemory.get(presented);
      if (cached) return cached;
      for (const licenseKey of candidateKeys(presented)) {
        const found = license(licenseKey);
        if (found) return found;
      }
      return null;
    },

    key: (id: string): CopiedKey | null => {
      const cached = keysInMemory.get(id);
      if (cached) return cached;
      const found = tables.readKey(id);
      if (found) keysInMemory.set(id, found);
      return found;
    },

    /** Undefined if the copy doesn't have the product, and null if the product was deleted. */
    productTerms: (code: string): ProductTerms | null | undefined => {
      products ??= tables.readProducts();
      return products.get(code);
    },

    /** Forgets rows that are written. */
    forget: (rows: Rows) => {
      for (const { id } of rows.keys) keysInMemory.delete(id);
      for (const { licenseKey } of rows.licenses) licensesInMemory.delete(licenseKey);
      for (const licenseKey of rows.erasedKeys) licensesInMemory.delete(licenseKey);
      if (rows.products.length > 0) products = null;
    },

    clear: () => {
      keysInMemory = createLru<CopiedKey>(KEYS_IN_MEMORY);
      licensesInMemory = createLru<CopiedLicense>(LICENSES_IN_MEMORY);
      products = null;
    },
  };
};
