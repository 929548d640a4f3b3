import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { axeViolations, openPage, waitForToast } from '../support/browser.ts';
import { type Customer, createAccount } from '../support/customer.ts';
import { downloadBy, loseNextAnswer, service, visitAs } from '../support/dashboard.ts';

// Actions on many licenses of one account. Each test continues where the previous test ended.

let ada: Customer;
let page: Page;
let consoleErrors: string[];
let suspendedId: string;

beforeAll(async () => {
  ada = await createAccount(service, 'ada');
  // The newest license is the first of the list.
  for (let i = 8; i > 0; i--) {
    const license_key = `BULK-${i}-LICENSE`;
    ({ id: suspendedId } = await ada.addLicense({
      license_key,
      ...(i !== 8 && { expires_at: '2099-01-01' }),
    }));
  }
  ({ page, consoleErrors } = await visitAs(ada));
  await openPage(page, '/licenses');
});

const box = (name: string) => page.getByRole('checkbox', { name });
const bar = () => page.getByRole('region', { name: 'Selected licenses' });
const statuses = async () =>
  (await page.getByRole('table', { name: 'Licenses' }).locator('tbody tr').allInnerTexts()).map(
    (text) => /Active|Suspended|Revoked/.exec(text)?.[0],
  );

test('a click with Shift selects a range, and the box in the header selects the page', async () => {
  await box('Select BULK-2-LICENSE').check();
  await box('Select BULK-5-LICENSE').click({ modifiers: ['Shift'] });
  await bar().getByText('4 licenses selected').waitFor();
  await expect.poll(() => page.evaluate('getSelection().toString()')).toBe('');
  await expect.poll(() => page.evaluate(`document.querySelector('#select-all').indeterminate`)).toBe(true);
  await box('Select all licenses shown').check();
  await bar().getByText('8 licenses selected').waitFor();
  await bar().getByRole('button', { name: 'Clear selection' }).click();
  await expect.poll(() => bar().count()).toBe(0);
  await expect.poll(() => page.evaluate('document.activeElement.id')).toBe('select-all');
});

test('suspends the selected licenses after a confirmation, and waits when it is too fast', async () => {
  let refused = 0;
  await page.route('**/suspend', async (route) => {
    if (refused++ > 2) return route.continue();
    return route.fulfill({
      status: 429,
      headers: { 'retry-after': '1' },
      json: { error: { code: 'rate_limit_exceeded', message: 'Rate Limit Exceeded', request_id: '' } },
    });
  });
  await box('Select BULK-1-LICENSE').check();
  await box('Select BULK-4-LICENSE').click({ modifiers: ['Shift'] });
  await bar().getByRole('button', { name: 'Suspend' }).click();
  const dialog = page.getByRole('dialog', { name: 'Suspend licenses' });
  expect(await axeViolations(page)).toEqual([]);
  await dialog.getByLabel('Reason').fill('chargeback');
  await dialog.getByRole('button', { name: 'Suspend 4 licenses' }).click();
  await dialog.getByText('4 licenses suspended.').waitFor();
  expect(refused).toBe(7);
  await dialog.getByRole('button', { name: 'Done' }).click();
  await page.unroute('**/suspend');
  await expect.poll(statuses).toEqual([...Array(4).fill('Suspended'), ...Array(4).fill('Active')]);
  const path = `/api/v1/licenses/${suspendedId}/history`;
  const { body } = await service.get(path, { authorization: `Bearer ${ada.token}` });
  expect(body).toMatchObject({
    data: [{ action: 'suspended', reason: 'chargeback' }, { action: 'created' }],
  });
});

test('says which licenses stay as they are, and lists those that failed', async () => {
  await page.route(/lic_[^/]+\/revoke/, (route) => route.abort(), { times: 1 });
  await box('Select all licenses shown').check();
  await bar().getByRole('button', { name: 'Reinstate' }).click();
  await page.getByText('4 licenses stay as they are: not suspended.').waitFor();
  await page.getByLabel('Reason').waitFor();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await bar().getByRole('button', { name: 'Revoke' }).click();
  await page.getByRole('button', { name: 'Revoke 8 licenses' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('7 licenses revoked. 1 license failed.').waitFor();
  await dialog.getByText('The service can’t be reached').waitFor();
  expect(await axeViolations(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
  expect((await statuses()).filter((status) => status === 'Revoked')).toHaveLength(7);
});

test('extends the licenses that can be extended, from their own last days', async () => {
  await ada.addLicense({ license_key: 'EXTEND-ME-1', expires_at: '2090-01-01' });
  await openPage(page, '/licenses');
  await box('Select all licenses shown').check();
  await bar().getByRole('button', { name: 'Extend' }).click();
  await page.getByLabel('Days').fill('31');
  await page.getByRole('button', { name: /^Extend \d licenses?$/ }).click();
  await page.getByText(/licenses? extended\./).waitFor();
  await page.getByRole('button', { name: 'Done' }).click();
  await expect.poll(() => page.getByText('Feb 1, 2090').filter({ visible: true }).count()).toBe(1);
});

test('trying again extends a license once, whose first response was lost', async () => {
  await openPage(page, '/licenses');
  await box('Select EXTEND-ME-1').check();
  await bar().getByRole('button', { name: 'Extend' }).click();
  await page.getByLabel('Days').fill('28');
  await loseNextAnswer(page, '/renew');
  await page.getByRole('button', { name: 'Extend 1 license' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('0 licenses extended. 1 license failed.').waitFor();
  await dialog.getByRole('button', { name: 'Try again' }).click();
  await dialog.getByText('1 license extended.').waitFor();
  await dialog.getByRole('button', { name: 'Done' }).click();
  await expect.poll(() => page.getByText('Mar 1, 2090').filter({ visible: true }).count()).toBe(1);
});

test('an action whose calls are answered lets its dialog close while the list is fetched again', async () => {
  await openPage(page, '/licenses');
  await box('Select EXTEND-ME-1').check();
  await bar().getByRole('button', { name: 'Suspend' }).click();
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  await page.route('**/api/v1/licenses?*', async (route) => {
    await released;
    return route.continue().catch(() => undefined);
  });
  const answered = page.waitForResponse('**/suspend');
  await page.getByRole('button', { name: 'Suspend 1 license' }).click();
  await answered;
  await expect
    .poll(async () => {
      await page.keyboard.press('Escape');
      return page.getByRole('dialog').count();
    })
    .toBe(0);
  release();
  await page.unroute('**/api/v1/licenses?*');
  await expect.poll(async () => (await statuses())[0]).toBe('Suspended');
  await box('Select EXTEND-ME-1').check();
  await bar().getByRole('button', { name: 'Reinstate' }).click();
  await page.getByRole('button', { name: 'Reinstate 1 license' }).click();
  await page.getByRole('button', { name: 'Done' }).click();
});

test('exports the selected licenses as a CSV file that an import takes', async () => {
  await page.setViewportSize({ width: 375, height: 800 });
  await box('Select EXTEND-ME-1').check();
  expect(
    await page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth'),
  ).toBe(false);
  const { name, text } = await downloadBy(page, bar().getByRole('button', { name: 'Export' }));
  expect(name).toMatch(/^licenses-\d{4}-\d\d-\d\d\.csv$/);
  const [header, row] = text.split('\r\n');
  expect(header).toBe(
    'license_key,status,product,customer_email,customer_name,customer_company,expires_at,updates_until,metadata,terms,created_at',
  );
  expect(row).toMatch(/^EXTEND-ME-1,active,,.+@example\.com,,,2090-03-01,never,\{\},\{\},\d{4}-/);
  expect(consoleErrors.filter((text) => !text.startsWith('Failed to load resource'))).toEqual([]);
});

test('whoever selects all of more than 10,000 licenses reads that some are left out', async () => {
  const COUNT = 10_001;
  const license = await ada.addLicense({ license_key: 'BULK-MANY-LICENSES' });
  await page.route('**/api/v1/licenses?*', (route) => {
    const query = new URL(route.request().url()).searchParams;
    const first = Number(query.get('cursor') ?? 0);
    const end = Math.min(first + Number(query.get('limit')), COUNT);
    const data = Array.from({ length: end - first }, (_, i) => ({ ...license, id: `lic_${first + i}` }));
    return route.fulfill({ json: { data, next_cursor: end < COUNT ? `${end}` : null } });
  });
  await page.reload();
  await page.locator('#select-all').click();
  await page.getByRole('button', { name: /^Select all/ }).click();
  await waitForToast(page, 'The first 10,000 of them are selected');
  await expect.poll(() => bar().textContent()).toContain('10,000 licenses selected');
});

test('a license that is taken out of all that match and chosen again is one of them', async () => {
  const first = box('Select BULK-MANY-LICENSES').first();
  await first.uncheck();
  await expect.poll(() => bar().textContent()).toContain('9,999 licenses selected');
  await first.check();
  await expect.poll(() => bar().textContent()).toContain('10,000 licenses selected');
});
