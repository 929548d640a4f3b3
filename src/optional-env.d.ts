/** Secrets that a service may do without, which `wrangler types` therefore does not know. */
interface OptionalEnv {
  STRIPE_SECRET_KEY?: string;
  STRIPE_WEBHOOK_SECRET?: string;
  /** Where Stripe's API is, if it is not Stripe's: tests set it. */
  STRIPE_API_BASE?: string;
}

declare namespace Cloudflare {
  interface Env extends OptionalEnv {}
}

interface Env extends OptionalEnv {}
