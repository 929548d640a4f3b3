import { firstDatabase } from '../../db/client.ts';
import { AppError } from '../../shared/app-error.ts';
import { settingsOf } from '../../shared/config/settings.ts';
import { providerLimits } from '../../users/limits.ts';
import { consumeAttempts } from '../../users/throttle.ts';
import type { ProviderName } from '../rules/fact.ts';
import { providerFailed, RefundRefused } from './provider-failed.ts';
import type { Provider } from './provider.ts';
import { sandbox } from './sandbox.ts';
import type { StripeAccess } from './stripe.ts';

const LOOPBACK = /^(localhost|127\.0\.0\.1|\[::1\])$/;

/** The sandbox gives plans away for free, so outside of local runs a second setting must allow it. */
const isSandboxAllowed = (env: Env, origin: string | null) =>
  // Scheduled work sells nothing.
  origin === null || LOOPBACK.test(new URL(origin).hostname) || settingsOf(env).allowsSandboxAnywhere;

/** Whatever it was that the provider did not do, the caller gets 503, and may try again. The log has the reason. */
const orUnavailable = (provider: Provider): Provider =>
  new Proxy(provider, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return async (...input: unknown[]) => {
        try {
          return await Reflect.apply(member, target, input);
        } catch (error) {
          if (error instanceof RefundRefused) throw error;
          return providerFailed(error);
        }
      };
    },
  });

/** Loads the Stripe SDK on demand, because it is large and few requests need it. */
const loadStripe = async (access: StripeAccess): Promise<Provider> =>
  orUnavailable((await import('./stripe.ts')).stripe(access));

/**
 * Finds a configured provider by name. `origin` is null for scheduled work. Old subscriptions can belong to another
 * provider than new checkouts.
 */
export const findProvider = async (
  env: Env,
  name: ProviderName,
  origin: string | null,
): Promise<Provider | null> => {
  if (name === 'sandbox') return isSandboxAllowed(env, origin) ? sandbox(env) : null;
  const { stripeSecretKey, stripeWebhookSecret, stripeApiUrl, stripePrices } = settingsOf(env);
  if (stripeSecretKey === null || stripeWebhookSecret === null) return null;
  return loadStripe({
    secretKey: stripeSecretKey,
    webhookSecret: stripeWebhookSecret,
    apiUrl: stripeApiUrl,
    prices: stripePrices,
  });
};

/** What was bought here can't be ended: the operator has removed the provider's keys. */
export class NotConfigured extends AppError {
  constructor() {
    super('unavailable', {
      message: 'The payment provider of this subscription is not configured on this service.',
    });
  }
}

/** Returns the provider of what was bought here. `origin` is as for `findProvider`. */
export const getProvider = async (env: Env, name: ProviderName, origin: string | null): Promise<Provider> => {
  const provider = await findProvider(env, name, origin);
  if (!provider) throw new NotConfigured();
  return provider;
};

/** Returns the provider for new checkouts. */
export const getCheckoutProvider = async (env: Env, origin: string): Promise<Provider> => {
  const { payments: name } = settingsOf(env);
  const provider = name && (await findProvider(env, name, origin));
  if (!provider) {
    throw new AppError('unavailable', { message: 'Payments are not configured on this service.' });
  }
  return provider;
};

/** Admits a call of an account that the provider has to answer. */
export const admitProviderCall = async (env: Env, accountId: string): Promise<void> => {
  await consumeAttempts({ firstDb: firstDatabase(env) }, providerLimits(accountId));
};
