import type { AccountPlan } from './plans.ts';

/** Where sellers sell. `generic` is a shop of their own. */
export const STORE_PROVIDERS = [
  'stripe',
  'paddle',
  'lemonsqueezy',
  'polar',
  'gumroad',
  'fastspring',
  'woocommerce',
  'generic',
] as const;
export type StoreProviderName = (typeof STORE_PROVIDERS)[number];

/** What a buyer gets: a license without an end, for some days, or for as long as a subscription is paid. */
export const GRANTS = ['perpetual', 'days', 'subscription'] as const;
/** Whether three of something are three licenses, or one with three seats. */
export const QUANTITIES = ['licenses', 'seats'] as const;
export const REFUND_ACTIONS = ['revoke', 'suspend', 'nothing'] as const;
export const DISPUTE_ACTIONS = ['suspend', 'revoke', 'nothing'] as const;

export const PURCHASE_STATUSES = [
  'pending',
  'unmapped',
  'fulfilled',
  'past_due',
  'disputed',
  'refunded',
  'ended',
  'failed',
] as const;
export type PurchaseStatus = (typeof PURCHASE_STATUSES)[number];

export const MAX_STORES = 20;
/** Of a notification to an account that stores as much as it may: 64 KiB, many times what a sale has. */
export const MAX_BYTES_WHEN_FULL = 65_536;
/** Of a store. */
export const MAX_OFFERS = 1_000;
/** Licenses of one purchase: a larger one fails, so that a typo in a shop makes no thousand of them. */
export const MAX_QUANTITY = 200;
/** Emails of a purchase, with those that the seller lets send again. */
export const MAX_MAILS = 10;
export const DEFAULT_GRACE_DAYS = 7;
/** The emails with bought keys that an account sends in a day. */
export const BUYER_MAILS_PER_DAY: Record<AccountPlan, number> = {
  free: 50,
  pro: 2_000,
  scale: 20_000,
  own: 20_000,
};

/** Secrets of a store that are accepted at a time: beyond it, none is replaced. */
export const MAX_STORE_SECRETS = 5;
/** For how long a replaced secret is accepted. */
export const SECRET_OVERLAP_HOURS = 24;
/** For how long the bodies of messages are kept. */
export const MESSAGE_DAYS = 30;
export const MAX_STORE_NAME_LENGTH = 100;
export const MAX_OFFER_REF_LENGTH = 200;
