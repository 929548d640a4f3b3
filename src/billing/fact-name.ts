import type { Fact, ProviderName } from './provider.ts';

/** Returns the unique name under which a fact is recorded when it is applied. */
export const toFactName = (provider: ProviderName, fact: Fact): string => {
  switch (fact.kind) {
    case 'paid':
      return `${provider}:paid:${fact.paymentId}`;
    case 'renewed':
      return renewalName(provider, fact.invoiceRef);
    case 'payment_failed':
      return `${provider}:payment_failed:${fact.invoiceRef}`;
    // A state, which may come and go: each change of it has another name, and is guarded by what it was before.
    case 'cancellation':
      return `${provider}:cancellation:${fact.subscriptionRef}:${crypto.randomUUID()}`;
    case 'ended':
    default:
      return `${provider}:${fact.kind satisfies 'ended'}:${fact.subscriptionRef}`;
  }
};

/** Returns the name of the fact that an invoice has renewed its subscription. */
export const renewalName = (provider: ProviderName, invoiceRef: string): string =>
  `${provider}:renewed:${invoiceRef}`;
