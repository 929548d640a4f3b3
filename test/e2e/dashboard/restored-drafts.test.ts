import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { openPage, waitForToast } from '../support/browser.ts';
import { type Customer, createAccount } from '../support/customer.ts';
import { service, visitAs } from '../support/dashboard.ts';

// Somebody types into a form, the record changes elsewhere, and a reload brings the draft back: what was not typed stays as it
// was changed elsewhere.

let ada: Customer;
let page: Page;
let licenseId: string;
let webhookId: string;
let storeId: string;

const OFFER = { product: 'orrery', grant: 'days', days: 30 };
const PORTAL = { enabled: true, name: 'Orrery', allow: { release_seat: true } };
let slug: string;

beforeAll(async () => {
  ada = await createAccount(service, 'ada');
  slug = `drafts-${ada.accountId.slice(-8).toLowerCase()}`;
  await ada.putProduct('orrery', { name: 'Orrery', terms: { max_activations: 2 } });
  ({ id: licenseId } = await ada.addLicense({
    product: 'orrery',
    customer_name: 'Grace',
    metadata: { order: 1, seats: 1 },
  }));
  webhookId = (await ada.addWebhook({ url: 'http://127.0.0.1:9/hooks' })).id;
  const store = {
    provider: 'generic',
    name: 'Shop',
    secret: `whsec_${btoa('0123456789abcdef0123456789abcdef')}`,
  };
  storeId = ((await ada.post('/api/stores', store)) as { id: string }).id;
  await ada.put(`/api/stores/${storeId}/offers/yearly`, OFFER);
  await ada.put('/api/portal', { ...PORTAL, slug });
  await ada.patch('/api/v1/products/orrery/mail', { from_name: 'Orrery' });
  ({ page } = await visitAs(ada));
});

const get = async (path: string) =>
  (await service.get(path, { authorization: `Bearer ${ada.token}` })).body as object;
const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
const field = (label: string) => page.getByLabel(label, { exact: true });
const restored = () => page.getByText('What you had typed is back.');

interface Case {
  name: string;
  path: () => string;
  /** Opens the form, where it is in a dialog. */
  open?: () => Promise<void>;
  type: () => Promise<void>;
  elsewhere: () => Promise<unknown>;
  save: string;
  saved: string;
  record: () => string;
  expected: object;
}

const CASES: Case[] = [
  {
    name: 'a license',
    path: () => `/licenses/${licenseId}`,
    open: () => press('Edit'),
    type: async () => {
      await field('Customer name').fill('Grace Hopper');
      await field('Metadata value').first().fill('2');
    },
    elsewhere: () => ada.patchLicense(licenseId, { customer_company: 'Navy', metadata: { seats: 9 } }),
    save: 'Save changes',
    saved: 'License changed',
    record: () => `/api/v1/licenses/${licenseId}`,
    expected: { customer_name: 'Grace Hopper', customer_company: 'Navy', metadata: { order: 2, seats: 9 } },
  },
  {
    name: 'a license’s terms',
    path: () => `/licenses/${licenseId}`,
    open: () => press('Edit terms'),
    type: () => field('Updates until').fill('2099-01-01'),
    elsewhere: () => ada.patchLicense(licenseId, { terms: { max_activations: 7 } }),
    save: 'Save terms',
    saved: 'Terms changed',
    record: () => `/api/v1/licenses/${licenseId}`,
    expected: { terms: { max_activations: 7 }, updates_until: '2099-01-01' },
  },
  {
    name: 'a product',
    path: () => '/products/orrery',
    type: () => field('Name').fill('Orrery Pro'),
    elsewhere: () => ada.putProduct('orrery', { name: 'Orrery', terms: { max_activations: 9 } }),
    save: 'Save changes',
    saved: 'Product saved',
    record: () => '/api/v1/products/orrery',
    expected: { name: 'Orrery Pro', terms: { max_activations: 9 } },
  },
  {
    name: 'the email to buyers',
    path: () => '/products/orrery',
    type: () => field('How to activate').fill('Paste it.'),
    elsewhere: () => ada.patch('/api/v1/products/orrery/mail', { from_name: 'Orrery Software' }),
    save: 'Save email',
    saved: 'Email saved',
    record: () => '/api/v1/products/orrery/mail',
    expected: { from_name: 'Orrery Software', intro: 'Paste it.' },
  },
  {
    name: 'a webhook',
    path: () => `/webhooks/${webhookId}?tab=settings`,
    type: () => field('Description').fill('Orders'),
    elsewhere: () => ada.patch(`/api/webhooks/${webhookId}`, { url: 'http://127.0.0.1:9/elsewhere' }),
    save: 'Save changes',
    saved: 'Webhook saved',
    record: () => `/api/webhooks/${webhookId}`,
    expected: { url: 'http://127.0.0.1:9/elsewhere', description: 'Orders' },
  },
  {
    name: 'a store',
    path: () => `/stores/${storeId}`,
    open: () => press('Edit'),
    type: () => field('Name').fill('Our shop'),
    elsewhere: () => ada.patch(`/api/stores/${storeId}`, { accept_test: true }),
    save: 'Save changes',
    saved: 'Store saved',
    record: () => `/api/stores/${storeId}`,
    expected: { name: 'Our shop', accept_test: true },
  },
  {
    name: 'an offer',
    path: () => `/stores/${storeId}`,
    open: () => press('Edit offer yearly'),
    type: async () => void (await field('A refund').selectOption('nothing')),
    elsewhere: () => ada.put(`/api/stores/${storeId}/offers/yearly`, { ...OFFER, days: 90 }),
    save: 'Save offer',
    saved: 'Offer saved',
    record: () => `/api/stores/${storeId}/offers/yearly`,
    expected: { on_refund: 'nothing', days: 90 },
  },
  {
    name: 'the portal',
    path: () => '/settings/portal',
    type: async () => {
      await field('Name').fill('Orrery Software');
      await page.getByLabel('A product with other rules').selectOption('orrery');
      await page
        .getByRole('group', { name: /With licenses of/ })
        .getByLabel('Get an offline file')
        .uncheck();
    },
    elsewhere: () => ada.put('/api/portal', { ...PORTAL, slug, allow: { release_seat: false } }),
    save: 'Save portal',
    saved: 'Portal saved',
    record: () => '/api/portal',
    expected: {
      name: 'Orrery Software',
      allow: { release_seat: false },
      products: { orrery: { offline_file: false } },
    },
  },
];

test.for(CASES)('the restored draft of $name changes only what was typed', async (form) => {
  await openPage(page, form.path());
  await form.open?.();
  await form.type();
  await form.elsewhere();
  await page.reload();
  await form.open?.();
  await restored().waitFor();
  await press(form.save);
  await waitForToast(page, form.saved);
  // The page of the next form may have this one, too, whose draft is dropped once the page shows what was saved.
  await expect.poll(() => page.evaluate(`JSON.stringify(sessionStorage)`)).not.toContain('latchkey.draft');
  expect(await get(form.record())).toMatchObject(form.expected);
});

test.for([
  { name: 'the portal', late: () => ({ ...PORTAL, slug, support_url: 'https://example.com/support' }) },
  { name: 'a product', late: () => ({ name: 'Orrery', terms: { max_activations: 9, offline_days: 4 } }) },
])('saving $name keeps what the page doesn’t know of yet', async ({ name, late }) => {
  const { path, save, saved, record } = CASES.find((form) => form.name === name) as Case;
  await openPage(page, path());
  await field('Name').fill('Orrery Studio');
  await ada.put(record(), late());
  await press(save);
  await waitForToast(page, saved);
  expect(await get(record())).toMatchObject({ ...late(), name: 'Orrery Studio' });
});

test('a saved form sends what is changed back', async () => {
  await openPage(page, `/webhooks/${webhookId}?tab=settings`);
  for (const text of ['Payments', 'Orders']) {
    await field('Description').fill(text);
    const saved = page.waitForResponse((response) => response.request().method() === 'PATCH');
    await press('Save changes');
    await saved;
    await expect.poll(() => get(`/api/webhooks/${webhookId}`)).toMatchObject({ description: text });
  }
});
