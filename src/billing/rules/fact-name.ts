import type { Fact, ProviderName } from './fact.ts';

/**
 * Returns the unique name under which a fact is recorded when it is applied, and the names of the facts after which it is out of
 * date. The names are older than the kinds of facts.
 */
export const toFactNames = (provider: ProviderName, fact: Fact): [name: string, ...later: string[]] => {
  switch (fact.kind) {
    case 'bought':
      return [`${provider}:paid:${fact.paymentId}`];
    case 'settled':
      return [`${provider}:renewed:${fact.invoiceRef}`];
    // A state, which may come and go: each change of it has another name, and is guarded by what it was before.
    case 'terms':
      return [`${provider}:terms:${fact.subscriptionRef}:${crypto.randomUUID()}`];
    case 'refunded':
      return [`${provider}:refunded:${fact.invoiceRef}:${fact.amount}`];
    case 'disputed': {
      const nameOf = (state: string) => `${provider}:disputed:${fact.disputeRef}:${state}`;
      return fact.state === 'open' ? [nameOf('open'), nameOf('won'), nameOf('lost')] : [nameOf(fact.state)];
    }
    case 'ended':
    default:
      return [`${provider}:${fact.kind satisfies 'ended'}:${fact.subscriptionRef}`];
  }
};
