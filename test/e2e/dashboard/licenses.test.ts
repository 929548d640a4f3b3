import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { openPage, waitForToast } from '../support/browser.ts';
import { type Customer, createAccount } from '../support/customer.ts';
import { loseNextAnswer, service, visitAs } from '../support/dashboard.ts';

let ada: Customer;
let page: Page;
let consoleErrors: string[];
let licenseKey: string;

beforeAll(async () => {
  ada = await createAccount(service, 'ada');
  await ada.putProduct('orrery', { name: 'Orrery' });
  ({ page, consoleErrors } = await visitAs(ada));
  await openPage(page, '/licenses');
});

const verify = async (key = licenseKey) => {
  const { api_key } = await ada.addKey({ scope: 'verify' });
  return (await ada.verify(api_key, key)).body as {
    valid: boolean;
    status: string;
    expires_at: string | null;
  };
};

describe('with only the keyboard', () => {
  const press = (key: string) => page.keyboard.press(key);
  const type = (text: string) => page.keyboard.type(text);
  const focused = () =>
    page.evaluate(`(({ ariaLabel, labels, textContent }) =>
      ariaLabel ?? labels?.[0]?.textContent ?? textContent)(document.activeElement)`);
  /** Presses Tab until the element with this name has the focus. */
  const tabTo = async (name: string) => {
    for (let i = 0; i < 30 && (await focused()) !== name; i++) await press('Tab');
    await expect.poll(focused).toBe(name);
  };

  test('a license can be created with every field', async () => {
    await tabTo('Create license');
    await press('Enter');
    await expect.poll(focused).toBe('Customer email');
    await type('grace@example.com');
    await tabTo('Customer name');
    await type('Grace Hopper');
    await tabTo('Customer company');
    await type('Eckert–Mauchly');
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
    licenseKey = (await page.locator('[data-secret]').textContent()) ?? '';
    expect(await verify()).toMatchObject({ valid: true });
  });

  test('the page of the license can be opened', async () => {
    await tabTo('Open license');
    await press('Enter');
    await page.getByRole('heading', { level: 1, name: licenseKey }).waitFor();
    await page.getByRole('button', { name: /^For developers/ }).click();
    for (const field of ['grace@example.com', 'Grace Hopper', 'orrery', 'seats'])
      await expect.poll(() => page.getByRole('main').textContent()).toContain(field);
  });
});

describe('the page of a license', () => {
  const dialogButton = (name: string) =>
    page.getByRole('alertdialog').or(page.getByRole('dialog')).getByRole('button', { name });
  const action = (name: string) => page.getByRole('main').getByRole('button', { name, exact: true });

  test('suspends the license after a confirmation that explains the effect, and reinstates it', async () => {
    await action('Suspend').click();
    await expect.poll(() => page.getByRole('alertdialog').textContent()).toMatch(/verif/i);
    await page.getByLabel('Reason').fill('chargeback');
    await dialogButton('Suspend license').click();
    await waitForToast(page, 'License suspended');
    await page.getByText(/Suspended by you · (?:just now|\d+ minutes? ago): chargeback/).waitFor();
    expect(await verify()).toMatchObject({ valid: false, status: 'suspended' });
    await action('Reinstate').click();
    await page.getByLabel('Reason').fill('the bank took it back');
    await dialogButton('Reinstate license').click();
    await waitForToast(page, 'License reinstated');
    await page.getByText('Reason: the bank took it back').waitFor();
    await page.getByText(/· (?:just now|\d+ minutes? ago): chargeback/).waitFor({ state: 'detached' });
    expect(await verify()).toMatchObject({ valid: true });
  });

  test('renews the license by a number of days from its expiration', async () => {
    const before = (await verify()).expires_at ?? '';
    await action('Renew').click();
    await page.getByLabel('Days').fill('30');
    await dialogButton('Renew license').click();
    await waitForToast(page, /^License renewed through/);
    const after = (await verify()).expires_at ?? '';
    expect(Date.parse(after) - Date.parse(before)).toBe(30 * 86_400_000);
  });

  test('edits the license and shows a validation error at its field', async () => {
    await action('Edit').click();
    await page.getByLabel('Customer email').fill('nobody');
    await dialogButton('Save changes').click();
    await expect.poll(() => page.getByLabel('Customer email').getAttribute('aria-invalid')).toBe('true');
    await page.getByLabel('Customer email').fill('hopper@example.com');
    await dialogButton('Save changes').click();
    await waitForToast(page, 'License changed');
    await expect.poll(() => page.getByRole('main').textContent()).toContain('hopper@example.com');
  });

  test('lists the history newest first', async () => {
    const entries = page.getByRole('list', { name: 'History' }).getByRole('listitem');
    await expect.poll(() => entries.count()).toBe(5);
    const texts = await entries.allTextContents();
    for (const [index, pattern] of [
      /changed|hopper/i,
      /renewed/i,
      /reinstated/i,
      /suspended/i,
      /created/i,
    ].entries()) {
      expect(texts[index]).toMatch(pattern);
    }
  });

  test('revokes the license and removes the actions that no longer apply', async () => {
    await action('Revoke').click();
    await dialogButton('Revoke license').click();
    await waitForToast(page, 'License revoked');
    expect(await verify()).toMatchObject({ valid: false, status: 'revoked' });
    for (const name of ['Suspend', 'Reinstate', 'Renew', 'Revoke'])
      await expect.poll(() => action(name).count()).toBe(0);
  });

  test('shows the response and its headers in “Try it”', async () => {
    await page.reload();
    await page.getByRole('button', { name: 'Send verify' }).click();
    const response = page.getByRole('region', { name: 'response' });
    await expect.poll(() => response.textContent()).toContain('"status": "revoked"');
    await expect.poll(() => page.getByRole('main').textContent()).toMatch(/ratelimit/i);
  });
});

test('retrying a create request whose response was lost makes one license', async () => {
  await openPage(page, '/licenses?create=true');
  await page.getByLabel('Customer name').fill('Sent twice');
  const send = page.getByRole('dialog').getByRole('button', { name: 'Create license' });
  await loseNextAnswer(page, '/api/v1/licenses/create');
  await send.click();
  await page.getByRole('alert').waitFor();
  await send.click();
  await page.locator('[data-secret]').waitFor();
  const { body } = await service.get('/api/v1/licenses?q=Sent+twice', {
    authorization: `Bearer ${ada.token}`,
  });
  expect((body as { data: unknown[] }).data).toHaveLength(1);
});

test('retrying a renewal whose response was lost renews the license once', async () => {
  const license = await ada.addLicense({ expires_at: '2090-01-01' });
  await openPage(page, `/licenses/${license.id}`);
  await page.getByRole('button', { name: 'Renew', exact: true }).click();
  await page.getByLabel('Days').fill('31');
  const send = page.getByRole('dialog').getByRole('button', { name: 'Renew license' });
  await loseNextAnswer(page, '/renew');
  await send.click();
  await page.getByRole('alert').waitFor();
  await send.click();
  await waitForToast(page, /^License renewed through/);
  expect(await verify(license.license_key)).toMatchObject({ expires_at: '2090-02-01' });
});

test('saving an edit keeps what changed while its dialog was open', async () => {
  const license = await ada.addLicense({ expires_at: '2090-01-31', metadata: { seats: 5 } });
  await openPage(page, `/licenses/${license.id}`);
  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Customer name').fill('Grace Hopper');
  await ada.post(`/api/v1/licenses/${license.id}/renew`, { expires_at: '2098-12-31' });
  await ada.patchLicense(license.id, { metadata: { order: 'A-7' } });
  await expect.poll(() => page.locator('main').textContent()).toMatch(/Dec 31, 2098[^]*A-7/);
  await dialog.getByRole('button', { name: 'Save changes' }).click();
  await waitForToast(page, 'License changed');
  const { body } = await service.get(`/api/v1/licenses/${license.id}`, {
    authorization: `Bearer ${ada.token}`,
  });
  expect(body).toMatchObject({
    customer_name: 'Grace Hopper',
    expires_at: '2098-12-31',
    metadata: { seats: 5, order: 'A-7' },
  });
});

test('the URL of an unknown license shows “License not found” and a link to the list', async () => {
  await page.goto('/licenses/lic_00000000000000000000');
  await page.getByRole('heading', { name: 'License not found' }).waitFor();
  await page.getByRole('link', { name: 'See all licenses' }).click();
  await page.getByRole('heading', { level: 1, name: 'Licenses' }).waitFor();
  expect(consoleErrors.filter((text) => !text.startsWith('Failed to load resource'))).toEqual([]);
});
