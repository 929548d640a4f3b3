/** Optional secrets. `wrangler types` doesn't include them, because wrangler.toml lists only required secrets. */
interface OptionalEnv {
  STRIPE_SECRET_KEY?: string;
  STRIPE_WEBHOOK_SECRET?: string;
  /** Overrides the URL of Stripe's API in tests. */
  STRIPE_API_BASE?: string;
}

declare namespace Cloudflare {
  interface Env extends OptionalEnv {}
}

interface Env extends OptionalEnv {}
