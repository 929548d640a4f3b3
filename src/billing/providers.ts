import { PROVIDERS } from '../db/schema.ts';
import { AppError } from '../shared/app-error.ts';
import type { Provider, ProviderName } from './provider.ts';
import { sandbox } from './sandbox.ts';

const LOOPBACK = /^(localhost|127\.0\.0\.1|\[::1\])$/;

/** The sandbox gives plans away: beyond this machine it has to be asked for twice. */
const mayUseSandbox = (env: Env, origin: string) =>
  LOOPBACK.test(new URL(origin).hostname) || env.PAYMENTS_SANDBOX_ANYWHERE === 'true';

/** The SDK is big and few requests need it. */
const stripe = async (env: Env): Promise<Provider> => (await import('./stripe.ts')).stripe(env);

/** A provider by its name, whether or not new checkouts go there: old subscriptions may still be its own. */
export const providerNamed = async (
  env: Env,
  name: ProviderName,
  origin: string,
): Promise<Provider | null> => {
  if (name === 'sandbox') return mayUseSandbox(env, origin) ? sandbox(env) : null;
  return env.STRIPE_SECRET_KEY && env.STRIPE_WEBHOOK_SECRET ? stripe(env) : null;
};

/** Where new checkouts go. */
export const currentProvider = async (env: Env, origin: string): Promise<Provider> => {
  const name = PROVIDERS.find((candidate) => candidate === env.PAYMENTS);
  const provider = name && (await providerNamed(env, name, origin));
  if (!provider) {
    throw new AppError('unavailable', { message: 'Payments are not set up on this service.' });
  }
  return provider;
};
