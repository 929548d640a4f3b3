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
