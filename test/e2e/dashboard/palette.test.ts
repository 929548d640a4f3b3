import { beforeAll, describe, expect, test } from 'vitest';
import { axeViolations, openPage, type Visit } from '../support/browser.ts';
import { createAccount } from '../support/customer.ts';
import { service, visitAs } from '../support/dashboard.ts';

let ada: Visit;

beforeAll(async () => {
  const customer = await createAccount(service, 'ada');
  await customer.addLicense({ customer_name: 'Wendy Carlos', customer_email: 'wendy@example.com' });
  ada = await visitAs(customer);
});

const input = () => ada.page.getByRole('combobox');
const press = (key: string) => ada.page.keyboard.press(key);
const toggle = () => press('ControlOrMeta+k');
const options = () => ada.page.getByRole('option').allTextContents();
/** Returns the text of the option that Enter runs. */
const highlighted = async () => {
  const id = await input().getAttribute('aria-activedescendant');
  return id === null ? null : ada.page.locator(`[id="${id}"]`).textContent();
};

/** Dispatches the shortcut outside of the palette, as a key press before the palette has the focus. */
const toggleFromPage = () =>
  ada.page.evaluate(
    `document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'k', ctrlKey: true, bubbles: true })); undefined`,
  );

/** Opens a page, and the palette on it, whose script loads during `act`. */
const openSlowly = async (act: () => Promise<void>) => {
  const released = Promise.withResolvers<void>();
  await openPage(ada.page, '/billing');
  await ada.page.route('**/assets/palette-*.js', async (route) => {
    await released.promise;
    await route.continue();
  });
  const loading = ada.page.getByText('Loading search…');
  await toggle();
  await loading.waitFor({ state: 'attached' });
  await act();
  released.resolve();
  // The palette replaces the text, so that it would be open by now.
  await loading.waitFor({ state: 'detached' });
  await ada.page.unroute('**/assets/palette-*.js');
};

describe('the command palette', () => {
  test('searches for what was typed while its script loaded', async () => {
    await openSlowly(() => ada.page.keyboard.type('Wendy'));
    await expect.poll(() => input().inputValue()).toBe('Wendy');
    await ada.page.keyboard.type(' Carlos');
    await expect.poll(() => input().inputValue()).toBe('Wendy Carlos');
    await expect.poll(options).toEqual([expect.stringContaining('Wendy Carlos')]);
  });

  test('stays closed after a second press of the shortcut while its script loads', async () => {
    await openSlowly(toggle);
    await expect.poll(() => input().count()).toBe(0);
  });

  test('closes with the shortcut before it has the focus', async () => {
    await toggle();
    await expect.poll(() => input().count()).toBe(1);
    await toggleFromPage();
    await expect.poll(() => input().count()).toBe(0);
  });

  test('opens and closes with the keyboard shortcut, and returns the focus', async () => {
    const search = ada.page.getByRole('button', { name: /^Search/ });
    await search.focus();
    await toggle();
    await expect.poll(() => input().count()).toBe(1);
    await toggle();
    await expect.poll(() => input().count()).toBe(0);
    await expect.poll(() => ada.page.evaluate('document.activeElement.textContent')).toContain('Search');
  });

  test('lists pages and actions in groups, without accessibility violations', async () => {
    await toggle();
    await expect.poll(highlighted).toBe('Home');
    await expect
      .poll(() => ada.page.getByRole('group', { name: 'Go to' }).getByRole('option').count())
      .toBe(10);
    await expect
      .poll(() => ada.page.getByRole('group', { name: 'Actions' }).getByRole('option').count())
      .toBe(9);
    expect(await axeViolations(ada.page)).toEqual([]);
  });

  test('moves the highlight with the arrow keys and wraps around', async () => {
    await press('ArrowDown');
    await expect.poll(highlighted).toBe('Licenses');
    await press('ArrowUp');
    await press('ArrowUp');
    await expect.poll(highlighted).toBe('Sign out');
  });

  test('ranks the best match first, even across groups', async () => {
    await input().fill('crlic');
    await expect.poll(highlighted).toBe('Create license');
    await input().fill('dark');
    await expect.poll(highlighted).toBe('Theme: dark');
    await input().fill('wendy');
    await expect.poll(options).toEqual([expect.stringContaining('Wendy Carlos')]);
    await input().fill('no such thing');
    await ada.page.getByText('Nothing found for').waitFor();
  });

  test('runs the highlighted item on Enter and moves the focus to the page it opens', async () => {
    await input().fill('API');
    await expect.poll(highlighted).toBe('API keys');
    await press('Enter');
    await ada.page.getByRole('heading', { level: 1, name: 'API keys' }).waitFor();
    await expect.poll(() => ada.page.evaluate('document.activeElement.id')).toBe('main');
    expect(ada.consoleErrors).toEqual([]);
  });
});
