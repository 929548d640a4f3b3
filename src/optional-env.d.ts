/** Optional secrets, variables, and bindings, which `wrangler types` doesn't include because wrangler.toml doesn't list them. */
interface OptionalEnv {
  /** Opens the paths under /operator. */
  OPERATOR_TOKEN?: string;
  /** The path at which a local run shows the emails that it would have sent. */
  MAIL_PREVIEW?: string;
  /** Which deployment this is. `npm run deploy` sets it, and waits until /health shows it. */
  DEPLOYMENT?: string;
  STRIPE_SECRET_KEY?: string;
  STRIPE_WEBHOOK_SECRET?: string;
  /** The prices of the plans at Stripe: `pro:price_…,scale:price_…`. */
  STRIPE_PRICES?: string;
  /** Overrides the URL of Stripe's API in tests. */
  STRIPE_API_BASE?: string;
  /** Has all requests in Analytics Engine. `npm run deploy` binds it where the settings say `traffic`. */
  TRAFFIC?: AnalyticsEngineDataset;
  /** Replaces the origin of the APIs of stores' providers in tests. */
  STORE_API_BASE?: string;
}

declare namespace Cloudflare {
  interface Env extends OptionalEnv {}
}

interface Env extends OptionalEnv {}
