import { beforeAll, describe, expect, test } from 'vitest';
import { open, type Visit } from '../support/browser.ts';
import { openAccount } from '../support/customer.ts';
import { service, visitAs } from '../support/dashboard.ts';

let visit: Visit;
let revokedKey: string;

beforeAll(async () => {
  const ada = await openAccount(service, 'ada');
  visit = await visitAs(ada);
  const revoked = await ada.addLicense({ product: 'Orrery' });
  revokedKey = revoked.license_key;
  await ada.post(`/api/v1/licenses/${revoked.id}/revoke`, {});
  for (let i = 0; i < 55; i++) {
    await ada.addLicense({
      customer_email: `customer-${i}@example.com`,
      product: i % 2 ? 'Orrery' : 'Tidewater',
    });
  }
  await open(visit.page, '/licenses');
});

const rows = () => visit.page.getByRole('table', { name: 'Licenses' }).locator('tbody tr');

describe('the list of licenses', () => {
  const showRevoked = async () => {
    await visit.page
      .getByRole('group', { name: 'State' })
      .getByRole('button', { name: /^Revoked/ })
      .click();
    await expect.poll(() => rows().count()).toBe(1);
  };

  test('shows a page of fifty, and more when asked', async () => {
    await expect.poll(() => rows().count()).toBe(50);
    await visit.page.getByRole('button', { name: 'Show more' }).click();
    await expect.poll(() => rows().count()).toBe(56);
  });

  test('is searched while one types, and the address can be shared', async () => {
    const { page } = visit;
    await page.getByRole('searchbox', { name: 'Search licenses' }).pressSequentially('customer-17@');
    await expect.poll(() => rows().count()).toBe(1);
    expect(new URL(page.url()).searchParams.get('q')).toBe('customer-17@');
    const other = await page.context().newPage();
    await open(other, page.url());
    expect(await other.getByRole('searchbox').inputValue()).toBe('customer-17@');
    await expect.poll(() => other.getByRole('table').textContent()).toContain('customer-17@example.com');
    await other.close();
  });

  test('says so when nothing is found, and how to go on', async () => {
    const { page } = visit;
    await page.getByRole('searchbox').fill('nobody at all');
    await page
      .getByRole('main')
      .getByText(/no license/i)
      .first()
      .waitFor();
    await page.getByRole('button', { name: 'Clear search' }).last().click();
    await expect.poll(() => rows().count()).toBeGreaterThan(40);
  });

  test('is filtered by state, and Back undoes that', async () => {
    const { page } = visit;
    await showRevoked();
    expect(await rows().textContent()).toContain(revokedKey);
    await page.goBack();
    await expect.poll(() => rows().count()).toBeGreaterThan(40);
  });

  test('gives a key to the clipboard', async () => {
    const { page } = visit;
    await showRevoked();
    await page.getByRole('button', { name: 'Copy license key' }).click();
    await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toBe(revokedKey);
  });

  test('is found from anywhere with the palette', async () => {
    const { page } = visit;
    await open(page, '/billing');
    await page.keyboard.press('ControlOrMeta+k');
    await page.getByRole('combobox', { name: 'Search or do' }).fill('customer-42@');
    await page.getByRole('option', { name: /customer-42@example\.com/ }).waitFor();
    await page.keyboard.press('Enter');
    await expect.poll(() => page.getByRole('main').textContent()).toContain('customer-42@example.com');
    expect(new URL(page.url()).pathname).toMatch(/^\/licenses\/lic_/);
  });
});
