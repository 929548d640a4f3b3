import { PROVIDERS } from '../db/schema.ts';
import { AppError } from '../shared/app-error.ts';
import type { Provider, ProviderName } from './provider.ts';
import { sandbox } from './sandbox.ts';

const LOOPBACK = /^(localhost|127\.0\.0\.1|\[::1\])$/;

/** The sandbox gives plans away for free, so outside of local runs a second setting must allow it. */
const isSandboxAllowed = (env: Env, origin: string | null) =>
  // Scheduled work sells nothing.
  origin === null || LOOPBACK.test(new URL(origin).hostname) || env.PAYMENTS_SANDBOX_ANYWHERE === 'true';

/** Loads the Stripe SDK on demand, because it is large and few requests need it. */
const loadStripe = async (env: Env): Promise<Provider> => (await import('./stripe.ts')).stripe(env);

/** Finds a configured provider by name. `origin` is null for scheduled work. Old subscriptions can belong to another provider than new checkouts. */
export const findProvider = async (
  env: Env,
  name: ProviderName,
  origin: string | null,
): Promise<Provider | null> => {
  if (name === 'sandbox') return isSandboxAllowed(env, origin) ? sandbox(env) : null;
  return env.STRIPE_SECRET_KEY && env.STRIPE_WEBHOOK_SECRET ? loadStripe(env) : null;
};

/** Returns the provider for new checkouts. */
export const getCheckoutProvider = async (env: Env, origin: string): Promise<Provider> => {
  const name = PROVIDERS.find((candidate) => candidate === env.PAYMENTS);
  const provider = name && (await findProvider(env, name, origin));
  if (!provider) {
    throw new AppError('unavailable', { message: 'Payments are not configured on this service.' });
  }
  return provider;
};
