import { beforeAll, describe, expect, test } from 'vitest';
import { open, type Visit } from '../support/browser.ts';
import { type Customer, openAccount } from '../support/customer.ts';
import { service, visitAs } from '../support/dashboard.ts';

let ada: Customer;
let visit: Visit;
let licenseKey: string;

beforeAll(async () => {
  ada = await openAccount(service, 'ada');
  visit = await visitAs(ada);
  await open(visit.page, '/licenses');
});

const toast = (words: string | RegExp) => visit.page.getByText(words).first().waitFor();
const status = async (key = licenseKey) => {
  const { api_key } = await ada.addKey({ scope: 'verify' });
  return (await ada.verify(api_key, key)).body as {
    valid: boolean;
    status: string;
    expires_at: string | null;
  };
};

describe('with the keyboard alone', () => {
  const press = (key: string) => visit.page.keyboard.press(key);
  const type = (text: string) => visit.page.keyboard.type(text);
  const focused = () =>
    visit.page.evaluate(`(({ ariaLabel, labels, textContent }) =>
      ariaLabel ?? labels?.[0]?.textContent ?? textContent)(document.activeElement)`);
  /** As often as it takes to get there. */
  const tabTo = async (name: string) => {
    for (let i = 0; i < 30 && (await focused()) !== name; i++) await press('Tab');
    expect(await focused()).toBe(name);
  };

  test('a license is created, every field of it', async () => {
    await tabTo('Create license');
    await press('Enter');
    await expect.poll(focused).toBe('Customer e-mail');
    await type('grace@example.com');
    await tabTo('Customer name');
    await type('Grace Hopper');
    await tabTo('Product');
    await type('Orrery');
    await tabTo('Expires');
    await type('After');
    await tabTo('Days');
    await press('ControlOrMeta+A');
    await type('365');
    await tabTo('Add metadata');
    await press('Enter');
    await type('seats');
    await tabTo('Metadata value');
    await type('5');
    await tabTo('Create license');
    await press('Enter');
    licenseKey = (await visit.page.locator('[data-secret]').textContent()) ?? '';
    expect(await status()).toMatchObject({ valid: true });
  });

  test('its page is a Tab and an Enter away', async () => {
    await tabTo('Open license');
    await press('Enter');
    await visit.page.getByRole('heading', { level: 1, name: licenseKey }).waitFor();
    const text = (await visit.page.getByRole('main').textContent()) ?? '';
    for (const field of ['grace@example.com', 'Grace Hopper', 'Orrery', 'seats'])
      expect(text).toContain(field);
  });
});

describe('a license’s life', () => {
  const dialogButton = (name: string) =>
    visit.page.getByRole('alertdialog').or(visit.page.getByRole('dialog')).getByRole('button', { name });
  const action = (name: string) => visit.page.getByRole('main').getByRole('button', { name, exact: true });

  test('is suspended after a word on what that does, and reinstated', async () => {
    await action('Suspend').click();
    expect(await visit.page.getByRole('alertdialog').textContent()).toMatch(/verif/i);
    await dialogButton('Suspend license').click();
    await toast('License suspended');
    expect(await status()).toMatchObject({ valid: false, status: 'suspended' });
    await action('Reinstate').click();
    await toast('License reinstated');
    expect(await status()).toMatchObject({ valid: true });
  });

  test('is renewed by days from its last one', async () => {
    const before = (await status()).expires_at ?? '';
    await action('Renew').click();
    await visit.page.getByLabel('Days').fill('30');
    await dialogButton('Renew license').click();
    await toast(/License renewed through/);
    const after = (await status()).expires_at ?? '';
    expect(Date.parse(after) - Date.parse(before)).toBe(30 * 86_400_000);
  });

  test('is edited, with what the service objects to at its field', async () => {
    await action('Edit').click();
    await visit.page.getByLabel('Customer e-mail').fill('nobody');
    await dialogButton('Save changes').click();
    await expect
      .poll(() => visit.page.getByLabel('Customer e-mail').getAttribute('aria-invalid'))
      .toBe('true');
    await visit.page.getByLabel('Customer e-mail').fill('hopper@example.com');
    await dialogButton('Save changes').click();
    await toast('License changed');
    await expect.poll(() => visit.page.getByRole('main').textContent()).toContain('hopper@example.com');
  });

  test('is told in its history, the latest first', async () => {
    const entries = visit.page.getByRole('list', { name: 'History' }).getByRole('listitem');
    await expect.poll(() => entries.count()).toBe(5);
    const told = await entries.allTextContents();
    for (const [index, word] of [
      /changed|hopper/i,
      /renewed/i,
      /reinstated/i,
      /suspended/i,
      /created/i,
    ].entries()) {
      expect(told[index]).toMatch(word);
    }
  });

  test('ends for good when it is revoked', async () => {
    await action('Revoke').click();
    await dialogButton('Revoke license').click();
    await toast('License revoked');
    expect(await status()).toMatchObject({ valid: false, status: 'revoked' });
    for (const name of ['Suspend', 'Reinstate', 'Renew', 'Revoke'])
      expect(await action(name).count()).toBe(0);
  });

  test('shows every verdict in “Try verify”, with the answer’s headers', async () => {
    await visit.page.reload();
    await visit.page.getByRole('button', { name: 'Send verify' }).click();
    const response = visit.page.getByRole('region', { name: 'response' });
    await expect.poll(() => response.textContent()).toContain('"status": "revoked"');
    expect(await visit.page.getByRole('main').textContent()).toMatch(/ratelimit/i);
  });
});

test('a create whose answer was lost makes one license when it is sent again', async () => {
  const { page } = visit;
  await open(page, '/licenses?create=true');
  await page.getByLabel('Product').fill('Sent twice');
  const send = page.getByRole('dialog').getByRole('button', { name: 'Create license' });
  await page.route(
    '**/api/v1/licenses/create',
    async (route) => {
      await route.fetch();
      await route.abort();
    },
    { times: 1 },
  );
  await send.click();
  await page.getByRole('alert').waitFor();
  await send.click();
  await page.locator('[data-secret]').waitFor();
  const { body } = await service.get('/api/v1/licenses?q=Sent+twice', {
    authorization: `Bearer ${ada.token}`,
  });
  expect((body as { data: unknown[] }).data).toHaveLength(1);
});

test('an address of no license says so and leads back', async () => {
  await visit.page.goto('/licenses/lic_00000000000000000000');
  await visit.page.getByRole('heading', { name: 'License not found' }).waitFor();
  await visit.page.getByRole('link', { name: 'See all licenses' }).click();
  await visit.page.getByRole('heading', { level: 1, name: 'Licenses' }).waitFor();
  expect(visit.faults.filter((fault) => !fault.startsWith('Failed to load resource'))).toEqual([]);
});
