import type { PaymentRow } from '../db/schema.ts';
import { formatMoney } from '../shared/rules/money.ts';
import { PLANS } from '../shared/rules/plans.ts';

// The sandbox's checkout page and the page of a change of plan: plain HTML without scripts. All values are constants or numbers, so nothing is escaped.

const STYLE = `
  :root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
  body { margin: 0; min-height: 100vh; display: grid; place-items: center; background: light-dark(#f6f6f4, #161615); color: light-dark(#1c1c1a, #eeeeea); }
  main { width: min(24rem, calc(100vw - 2rem)); box-sizing: border-box; padding: 2rem; border-radius: 12px; background: light-dark(#fff, #20201e); border: 1px solid light-dark(#e3e3de, #34342f); }
  h1 { font-size: 1.125rem; margin: 0 0 .25rem; }
  .note { color: light-dark(#66665f, #a3a39b); font-size: .875rem; margin: 0 0 1.5rem; }
  .amount { font-size: 2rem; font-weight: 600; margin: 0; font-variant-numeric: tabular-nums; }
  ul { margin: .5rem 0 1.5rem; padding-left: 1.1rem; font-size: .9375rem; }
  form { display: grid; gap: .5rem; }
  button { font: inherit; font-weight: 550; padding: .625rem; border-radius: 8px; border: 1px solid transparent; cursor: pointer; }
  button[value=paid] { background: light-dark(#1c1c1a, #eeeeea); color: light-dark(#fff, #161615); }
  button[value=declined] { background: none; border-color: light-dark(#d5d5cf, #45453f); color: inherit; }
  button:focus-visible { outline: 2px solid #4a7dff; outline-offset: 2px; }
`;

const count = (value: number) => value.toLocaleString('en-US');

const page = (title: string, content: string) =>
  `<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        <link rel="icon" href="/favicon.svg" />
        <style>
          ${STYLE}
        </style>
      </head>
      <body>
        <main>${content}</main>
      </body>
    </html>`;

export const checkoutPage = ({ plan, amount, currency }: PaymentRow) => {
  const { apiLimit, licenseLimit, callsPerSecond } = PLANS[plan];
  return page(
    'Sandbox checkout',
    `<h1>Latchkey ${plan}</h1>
      <p class="note">Sandbox: no money moves.</p>
      <p class="amount">${formatMoney(amount, currency)} <small>a month</small></p>
      <ul>
        <li>${count(apiLimit)} licensing calls a month</li>
        <li>${count(licenseLimit)} licenses</li>
        <li>${count(callsPerSecond)} calls a second for each API key</li>
      </ul>
      <form method="post">
        <button name="outcome" value="paid">Pay</button>
        <button name="outcome" value="declined">Decline</button>
      </form>`,
  );
};

/** Asks whether to change the plan, or to let it go on, with the payment method that the provider knows. */
export const changePage = ({ plan, amount, currency }: PaymentRow) => {
  const { apiLimit, licenseLimit, callsPerSecond } = PLANS[plan];
  return page(
    `Latchkey ${plan}`,
    `<h1>Continue with Latchkey ${plan}</h1>
      <p class="amount">${formatMoney(amount, currency)} <small>a month</small></p>
      <ul>
        <li>${count(apiLimit)} licensing calls a month</li>
        <li>${count(licenseLimit)} licenses</li>
        <li>${count(callsPerSecond)} calls a second for each API key</li>
      </ul>
      <p class="note">What is left of your current plan counts toward this one. If this one costs more, the difference for the rest of the period is charged to your payment method now. If it costs less, the rest lowers your next invoices.</p>
      <form method="post">
        <button name="outcome" value="paid">Confirm</button>
        <button name="outcome" value="declined">Keep my plan</button>
      </form>`,
  );
};

const STATUS_TEXTS = {
  pending: ['Processing', 'Your payment has not been confirmed yet.'],
  paid: ['Paid', 'Thank you. The plan is active.'],
  declined: ['Not paid', 'The payment was declined. Nothing has changed.'],
  expired: ['Expired', 'This checkout has expired. You were not charged.'],
  refunded: ['Refunded', 'This payment was refunded to you.'],
  disputed: ['Disputed', 'This payment is disputed at your bank.'],
  replaced: ['No longer valid', 'A newer checkout has replaced this one.'],
} as const;

/** Shows the status of a payment to a customer who returns from checkout. */
export const paymentStatusPage = (status: PaymentRow['status']) => {
  const [title, text] = STATUS_TEXTS[status];
  return page(
    title,
    `<h1>${title}</h1>
      <p class="note">${text}</p>`,
  );
};
