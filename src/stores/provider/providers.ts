import type { StoreProviderName } from '../../shared/rules/stores.ts';
import { fastspring } from './fastspring.ts';
import { generic } from './generic.ts';
import { gumroad } from './gumroad.ts';
import { lemonsqueezy } from './lemonsqueezy.ts';
import { paddle } from './paddle.ts';
import { polar } from './polar.ts';
import type { StoreProvider } from './provider.ts';
import { stripe } from './stripe.ts';
import { woocommerce } from './woocommerce.ts';

export const PROVIDERS: Record<StoreProviderName, StoreProvider> = {
  stripe,
  paddle,
  lemonsqueezy,
  polar,
  gumroad,
  fastspring,
  woocommerce,
  generic,
};
