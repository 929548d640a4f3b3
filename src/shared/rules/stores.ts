/** Where sellers sell. `generic` is a shop of their own. */
export const STORE_PROVIDERS = [
  'paddle',
  'lemonsqueezy',
  'polar',
  'gumroad',
  'fastspring',
  'woocommerce',
  'generic',
] as const;
export type StoreProviderName = (typeof STORE_PROVIDERS)[number];
