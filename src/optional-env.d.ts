/** Optional secrets and variables, which `wrangler types` doesn't include because wrangler.toml doesn't list them. */
interface OptionalEnv {
  /** Opens the paths under /operator. */
  OPERATOR_TOKEN?: string;
  /** The path at which a local run shows the emails that it would have sent. */
  MAIL_PREVIEW?: string;
  STRIPE_SECRET_KEY?: string;
  STRIPE_WEBHOOK_SECRET?: string;
  /** The prices of the plans at Stripe: `pro:price_…,scale:price_…`. */
  STRIPE_PRICES?: string;
  /** Overrides the URL of Stripe's API in tests. */
  STRIPE_API_BASE?: string;
  /** Replaces the origin of the APIs of stores' providers in tests. */
  STORE_API_BASE?: string;
}

declare namespace Cloudflare {
  interface Env extends OptionalEnv {}
}

interface Env extends OptionalEnv {}
