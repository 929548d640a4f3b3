import { setTimeout as delay } from 'node:timers/promises';
import type { Route } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { signedInBody } from '../../../src/sign-in/schemas.ts';
import { openPage, type Visit } from '../support/browser.ts';
import { createAccount, PASSWORD } from '../support/customer.ts';
import { service, visitAs } from '../support/dashboard.ts';
import { createDemoAccount, type DemoAccount, PAGES, pagesOf } from '../support/demo-account.ts';

let demo: DemoAccount;

beforeAll(async () => {
  demo = await createDemoAccount(service);
});
afterAll(() => demo.closeReceiver());

describe('another account', () => {
  let bob: Visit;

  beforeAll(async () => {
    bob = await visitAs(await createAccount(service, 'bob'));
  });

  test.for(PAGES)('sees no data of the demo account on the page %s', async (name) => {
    const secrets = [
      demo.customer.email,
      demo.healthy.url,
      ...demo.licenses.flatMap(({ license_key, customer_email }) => [license_key, customer_email]),
    ];
    const path = pagesOf(demo)[name];
    await openPage(bob.page, path);
    const content = await bob.page.content();
    // The page of a customer shows the address in its path.
    const shown = secrets.filter((secret) => content.includes(secret) && !path.includes(secret));
    expect(shown).toEqual([]);
  });
});

test('signing out in one tab signs out the other tab', async () => {
  const { email } = demo.customer;
  const session = signedInBody.parse(
    (await service.post('/api/login', { email, password: PASSWORD })).body,
  ).session;
  const { context, page: first } = await visitAs({ ...demo.customer, token: session.token });
  await openPage(first, '/licenses');
  const second = await context.newPage();
  await second.goto('/keys');
  await second.getByRole('button', { name: 'Account menu' }).click();
  await second.getByRole('menuitem', { name: 'Sign out' }).click();
  await first.getByRole('heading', { name: 'Sign in' }).waitFor();
  expect(await first.content()).not.toContain(demo.licenses.at(-1)?.license_key);
  await context.close();
});

test('signing out in one tab stops what the other tab does for the account, and asks nothing there', async () => {
  const carol = await createAccount(service, 'carol');
  for (let i = 0; i < 6; i++) await carol.addLicense({});
  const { context, page: first } = await visitAs(carol);
  const asked: string[] = [];
  first.on('dialog', (dialog) => {
    asked.push(dialog.type());
    return dialog.dismiss();
  });
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const { promise: reloaded, resolve: reload } = Promise.withResolvers<void>();
  const suspended: Route[] = [];
  const reloads: Route[] = [];
  await openPage(first, '/licenses');
  await first.route('**/suspend', async (route) => {
    suspended.push(route);
    await released;
    return route.continue().catch(() => undefined);
  });
  await first.route('**/licenses', async (route) => {
    reloads.push(route);
    await reloaded;
    return route.continue();
  });
  await first.getByRole('checkbox', { name: 'Select all licenses shown' }).check();
  await first.getByRole('button', { name: 'Suspend', exact: true }).click();
  await first.getByLabel('Reason').pressSequentially('chargeback');
  await first.getByRole('button', { name: 'Suspend 6 licenses' }).click();
  await expect.poll(() => suspended.length).toBe(4);
  const second = await context.newPage();
  await second.goto('/keys');
  await second.getByRole('button', { name: 'Account menu' }).click();
  await second.getByRole('menuitem', { name: 'Sign out' }).click();
  await expect.poll(() => reloads.length).toBe(1);
  release();
  await Promise.all(suspended.map((route) => route.request().response()));
  await delay(500);
  expect(suspended).toHaveLength(4);
  reload();
  await first.getByRole('heading', { name: 'Sign in' }).waitFor();
  expect(asked).toEqual([]);
});
