// The part of the fake of Stripe's API that has to do with invoices: what has paid them, and giving it back. The intent and the
// charge that pay an invoice have its id, with their own prefixes.

export type StripeObject = Record<string, unknown>;

export interface Reply {
  status: number;
  body: unknown;
}

const newRef = (prefix: string) => `${prefix}_${crypto.randomUUID().replaceAll('-', '')}`;

const ok = (body: unknown): Reply => ({ status: 200, body });
const list = (data: unknown[]): Reply => ok({ object: 'list', has_more: false, data });

const refuse = (status: number, message: string, code?: string): Reply => ({
  status,
  body: { error: { type: 'invalid_request_error', message, code } },
});

export const openCharges = () => {
  const invoices = new Map<string, StripeObject>();
  const charges = new Map<string, StripeObject>();
  const disputes = new Map<string, StripeObject>();

  const add = (invoice: StripeObject) => void invoices.set(String(invoice['id']), invoice);

  const chargeOf = (id: string): StripeObject | null => {
    const invoice = invoices.get(id.replace(/^(ch|pi)_/, ''));
    if (invoice?.['status'] !== 'paid') return null;
    const chargeId = `ch_${String(invoice['id'])}`;
    const charge = charges.get(chargeId) ?? {
      id: chargeId,
      object: 'charge',
      amount: invoice['amount_paid'],
      amount_refunded: 0,
      disputed: false,
      payment_intent: `pi_${String(invoice['id'])}`,
    };
    charges.set(chargeId, charge);
    return charge;
  };

  const paymentsOf = (invoiceId: string): Reply => {
    const charge = chargeOf(invoiceId);
    const intent = { id: `pi_${invoiceId}`, object: 'payment_intent', latest_charge: charge };
    const payment = { type: 'payment_intent', payment_intent: intent };
    const found = { id: `inpay_${invoiceId}`, status: 'paid', invoice: invoices.get(invoiceId), payment };
    return list(charge ? [found] : []);
  };

  const refund = (intent: string): Reply => {
    const charge = chargeOf(intent);
    if (charge?.['refuses'] === true) return refuse(400, 'Insufficient funds in your Stripe balance.');
    if (!charge) return refuse(404, `No such payment_intent: '${intent}'`, 'resource_missing');
    if (charge['amount_refunded'] === charge['amount'])
      return refuse(400, 'The charge has already been refunded.', 'charge_already_refunded');
    charge['amount_refunded'] = charge['amount'];
    charge['refunds_made'] = Number(charge['refunds_made'] ?? 0) + 1;
    return ok({ id: `re_${intent}`, object: 'refund', status: 'succeeded', amount: charge['amount'] });
  };

  const voidInvoice = (id: string): Reply => {
    const invoice = invoices.get(id);
    if (!invoice) return refuse(404, `No such invoice: '${id}'`, 'resource_missing');
    if (invoice['status'] !== 'open') return refuse(400, 'You can only pass in open invoices.');
    return ok(Object.assign(invoice, { status: 'void' }));
  };

  /**
   * With `pending_if_incomplete`, the items change once the invoice of the difference is paid. A test says with `declines` that the
   * card is declined, and with `difference` what the invoice comes to.
   */
  const changePrice = (subscription: StripeObject, form: Record<string, string>) => {
    const product = form['items[0][price_data][product]'];
    const price = form['items[0][price]'];
    if (product === undefined && price === undefined) return;
    const isDeclined = subscription['declines'] === true;
    const amount = Number(subscription['difference'] ?? 0);
    const items = structuredClone(subscription['items']) as { data: StripeObject[] };
    Object.assign(items.data[0] ?? {}, { price: { id: price ?? newRef('price'), product } });
    const invoice: StripeObject = {
      ...(subscription['latest_invoice'] as StripeObject),
      id: newRef('in'),
      billing_reason: 'subscription_update',
      status: isDeclined ? 'open' : 'paid',
      amount_due: amount,
      amount_paid: isDeclined ? 0 : amount,
      hosted_invoice_url: 'https://invoice.example/pay',
    };
    add(invoice);
    Object.assign(subscription, {
      latest_invoice: invoice,
      pending_update: isDeclined ? { subscription_items: items.data } : null,
      ...(!isDeclined && { items }),
    });
  };

  /** The newest first, ten unless a limit says otherwise. */
  const invoicesOf = (search: URLSearchParams) => {
    const [subscription, status] = [search.get('subscription'), search.get('status')];
    return [...invoices.values()]
      .filter(
        (invoice) =>
          invoice['status'] === status && JSON.stringify(invoice['parent']).includes(`"${subscription}"`),
      )
      .toSorted((one, other) => Number(other['created']) - Number(one['created']))
      .slice(0, Number(search.get('limit') ?? 10));
  };

  return {
    /** Remembers an invoice that a test has made. */
    add,
    changePrice,
    /** Changes a charge, or a dispute of it. */
    put: (command: string, id: string, changes: StripeObject): unknown => {
      const charge = chargeOf(id) ?? {};
      if (command === 'charges') return Object.assign(charge, changes);
      const disputeId = `dp_${id}`;
      const about = { id: disputeId, object: 'dispute', charge: charge['id'], amount: charge['amount'] };
      const dispute = { ...about, payment_intent: charge['payment_intent'], ...changes };
      disputes.set(String(charge['id']), dispute);
      charge['disputed'] = true;
      return dispute;
    },
    /** Returns null for what isn't about invoices and charges. */
    call: (method: string, path: string, search: URLSearchParams, form: StripeObject): Reply | null => {
      const [, , kind, id = '', verb] = path.split('/');
      if (kind === 'invoices' && verb === 'void') return voidInvoice(id);
      if (kind === 'invoices' && id !== '') {
        const invoice = invoices.get(id);
        return invoice ? ok(invoice) : refuse(404, `No such invoice: '${id}'`, 'resource_missing');
      }
      if (kind === 'invoices') return list(invoicesOf(search));
      if (kind === 'invoice_payments') {
        const intent = search.get('payment[payment_intent]');
        return paymentsOf(search.get('invoice') ?? intent?.replace('pi_', '') ?? '');
      }
      if (kind === 'charges') {
        const charge = chargeOf(id);
        return charge ? ok(charge) : refuse(404, `No such charge: '${id}'`, 'resource_missing');
      }
      if (kind === 'disputes') {
        const dispute = disputes.get(search.get('charge') ?? '');
        return list(dispute ? [dispute] : []);
      }
      return kind === 'refunds' && method === 'POST' ? refund(String(form['payment_intent'])) : null;
    },
  };
};
