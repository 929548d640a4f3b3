import type { StoreProviderName } from '../../../src/shared/rules/stores.ts';
import { fastspringWorld } from './fastspring.ts';
import { genericWorld } from './generic.ts';
import { gumroadWorld } from './gumroad.ts';
import { lemonsqueezyWorld } from './lemonsqueezy.ts';
import { paddleWorld } from './paddle.ts';
import { polarWorld } from './polar.ts';
import { stripeWorld } from './stripe.ts';
import { woocommerceWorld } from './woocommerce.ts';
import type { StoreHistory, StoreWorld } from './world.ts';

export interface WorldOfProvider {
  world: (history: StoreHistory) => StoreWorld;
  /** What the store calls what is sold. */
  ref: string;
}

export const WORLDS: Record<StoreProviderName, WorldOfProvider> = {
  stripe: { world: stripeWorld, ref: 'plink_1' },
  paddle: { world: paddleWorld, ref: 'pri_01gsz8x8sawmvhz1pv30nge1ke' },
  lemonsqueezy: { world: lemonsqueezyWorld, ref: '88001' },
  polar: { world: polarWorld, ref: 'd8dd2de1-21b7-4a41-8bc3-ce909c0cfe23' },
  gumroad: { world: gumroadWorld, ref: 'orrery' },
  fastspring: { world: fastspringWorld, ref: 'orrery-pro' },
  woocommerce: { world: woocommerceWorld, ref: '51' },
  generic: { world: genericWorld, ref: 'orrery' },
};
