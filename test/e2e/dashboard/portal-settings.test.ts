import { expect, test } from 'vitest';
import { axeViolations, openPage, waitForToast } from '../support/browser.ts';
import { createAccount } from '../support/customer.ts';
import { service, visitAs } from '../support/dashboard.ts';

test('a seller switches the portal on, and opens its preview', async () => {
  const ada = await createAccount(service, 'portal-seller');
  await service.put(
    '/api/v1/products/pro',
    { name: 'Orrery Pro' },
    { 'x-api-key': (await ada.addKey()).api_key },
  );
  const slug = `seller-${crypto.randomUUID().slice(0, 8)}`;
  const { context, page, consoleErrors } = await visitAs(ada);
  await openPage(page, '/settings/portal');
  await page.getByText('the portal sends no emails').waitFor();
  await page.getByLabel('The portal is on').check();
  await page.getByLabel('Address', { exact: true }).fill('latchkey');
  await page.getByLabel('Name').fill('Orrery Software');
  await page.getByRole('button', { name: 'Save portal' }).click();
  await page.getByText('Is reserved').waitFor();
  consoleErrors.length = 0;
  await page.getByLabel('Address', { exact: true }).fill(slug);
  await page.getByLabel('Change their license key').check();
  await page.getByLabel('A product with other rules').selectOption('pro');
  await page
    .getByRole('group', { name: /Orrery Pro/ })
    .getByLabel('Get an offline file')
    .uncheck();
  expect(await axeViolations(page)).toEqual([]);
  await page.getByRole('button', { name: 'Save portal' }).click();
  await waitForToast(page, 'Portal saved');
  const { body } = await service.get('/api/portal', { authorization: `Bearer ${ada.token}` });
  expect(body).toMatchObject({
    enabled: true,
    slug,
    name: 'Orrery Software',
    accent_color: null,
    allow: { release_seat: true, offline_file: true, rotate_key: true, change_email: true },
    products: { pro: { offline_file: false } },
  });
  const preview = page.getByRole('link', { name: 'Preview' });
  await expect.poll(() => preview.getAttribute('href')).toBe(`${service.origin}/portal/${slug}`);
  expect(consoleErrors).toEqual([]);
  await context.close();
});

test('the rules of a product begin with what all customers may do at present', async () => {
  const ada = await createAccount(service, 'portal-rules');
  await ada.putProduct('pro', { name: 'Orrery Pro' });
  const slug = `seller-${crypto.randomUUID().slice(0, 8)}`;
  await ada.put('/api/portal', { enabled: true, slug, name: 'Orrery', allow: { release_seat: true } });
  const { context, page } = await visitAs(ada);
  await openPage(page, '/settings/portal');
  await page.getByLabel('Release a machine’s seat').uncheck();
  const save = page.getByRole('button', { name: 'Save portal' });
  await save.click();
  await waitForToast(page, 'Portal saved');
  // The page has fetched what was saved.
  await expect.poll(() => save.getAttribute('aria-busy')).toBeNull();
  await page.getByLabel('A product with other rules').selectOption('pro');
  const rule = page.getByRole('group', { name: /Orrery Pro/ }).getByLabel('Release a machine’s seat');
  await expect.poll(() => rule.isChecked()).toBe(false);
  await context.close();
});
