import type { StoreProviderName } from '../../../shared/rules/stores.ts';

interface ProviderText {
  name: string;
  /** What the provider calls the id that an offer names. */
  ref: string;
  /** Where the webhook's URL is entered. */
  where: string;
  /** What the secret is called there, or null if the service makes it. */
  secret: string | null;
  /** Whether the secret is only known once the URL was entered. */
  isSecretLater?: true;
  /** What the API key is for, or null where there is no API. */
  apiKey: string | null;
  /** Whether nothing works without the API key. */
  needsApiKey?: true;
}

const FOR_LOST = 'Finds sales whose notification never came.';

/** What the dashboard says of each provider. docs/stores/ has the clicks. */
export const PROVIDERS: Record<StoreProviderName, ProviderText> = {
  stripe: {
    name: 'Stripe',
    ref: 'Price, product, or payment link, such as price_…',
    where: 'Developers, Webhooks, Add destination',
    secret: 'Signing secret, which begins with whsec_',
    isSecretLater: true,
    apiKey: `${FOR_LOST} It also reads the price of a checkout. A restricted key is enough: read access, and write access to customer portal sessions for the store’s page in the portal.`,
  },
  paddle: {
    name: 'Paddle',
    ref: 'Price or product, such as pri_…',
    where: 'Developer tools, Notifications',
    secret: 'Secret key of the notification destination',
    isSecretLater: true,
    apiKey: `${FOR_LOST} It also reads the buyer’s address.`,
  },
  lemonsqueezy: {
    name: 'Lemon Squeezy',
    ref: 'Variant or product, such as 123456',
    where: 'Settings, Webhooks',
    secret: 'Signing secret, which you choose there',
    apiKey: FOR_LOST,
  },
  polar: {
    name: 'Polar',
    ref: 'Product or price ID',
    where: 'Settings, Webhooks',
    secret: 'Secret of the webhook',
    isSecretLater: true,
    apiKey: FOR_LOST,
  },
  gumroad: {
    name: 'Gumroad',
    ref: 'Product, by its permalink or id',
    where: 'Settings, Advanced, Ping',
    secret: null,
    apiKey:
      'Access token of an application of yours. Gumroad signs nothing, so each sale is confirmed by its API.',
    needsApiKey: true,
  },
  fastspring: {
    name: 'FastSpring',
    ref: 'Product path',
    where: 'Developer Tools, Webhooks',
    secret: 'HMAC SHA256 secret of the webhook',
    apiKey: `${FOR_LOST} The username and the password, separated by a colon.`,
  },
  woocommerce: {
    name: 'WooCommerce',
    ref: 'Product or variation ID',
    where: 'WooCommerce, Settings, Advanced, Webhooks',
    secret: 'Secret of the webhook, which you choose there',
    apiKey: `${FOR_LOST} The shop’s address, the consumer key, and the consumer secret.`,
  },
  generic: {
    name: 'Shop of your own',
    ref: 'What your shop sends as offer',
    where: 'your shop, which sends the purchases itself',
    secret: 'Secret with which your shop signs, as in Standard Webhooks',
    apiKey: null,
  },
};
