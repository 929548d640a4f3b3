import { expect, test } from 'vitest';
import { axeViolations, openPage } from '../support/browser.ts';
import { createAccount, PASSWORD } from '../support/customer.ts';
import { service, visit, visitAs } from '../support/dashboard.ts';
import { waitForLink } from '../support/mails.ts';

const NEW_PASSWORD = 'another horse battery';

test('the link of an email verifies the email address', async () => {
  const bob = await createAccount(service, 'bob');
  const { context, page: other, consoleErrors } = await visitAs(bob);
  await openPage(other, '/settings');
  await other.getByText('Not verified').waitFor();
  await other.getByRole('button', { name: 'Send verification email' }).click();
  await other.getByText('The email is on its way.').waitFor();
  await other.getByRole('link', { name: 'Read the email here' }).waitFor();
  expect(await axeViolations(other)).toEqual([]);
  await other.goto(await waitForLink(service.origin, bob.email, 'Verify your email address'));
  await other.getByRole('button', { name: 'Verify email address' }).click();
  await other.getByRole('heading', { name: 'Email address verified' }).waitFor();
  await other.getByRole('link', { name: 'Continue' }).click();
  await expect.poll(() => other.getByText('Verified', { exact: true }).count()).toBe(1);
  expect(consoleErrors).toEqual([]);
  await context.close();
});

test('whoever opens the link of an email in another browser enters the password', async () => {
  const bob = await createAccount(service, 'bob');
  const link = await waitForLink(service.origin, bob.email, 'Verify your email address');
  const { context, page: other } = await visit();
  await other.goto(link);
  await other.getByLabel('Password').fill('not the password');
  await other.getByRole('button', { name: 'Verify email address' }).click();
  await other.getByText('The password is wrong.').waitFor();
  expect(await axeViolations(other)).toEqual([]);
  await other.getByLabel('Password').fill(PASSWORD);
  await other.getByRole('button', { name: 'Verify email address' }).click();
  await other.getByRole('heading', { name: 'Email address verified' }).waitFor();
  await context.close();
});

test('whoever is signed in to another account enters the password of the email’s account', async () => {
  const [bob, eve] = [await createAccount(service, 'bob'), await createAccount(service, 'eve')];
  const { context, page: other } = await visitAs(eve);
  await other.goto(await waitForLink(service.origin, bob.email, 'Verify your email address'));
  await other.getByRole('button', { name: 'Verify email address' }).click();
  await other.getByLabel('Password').fill(PASSWORD);
  await other.getByRole('button', { name: 'Verify email address' }).click();
  await other.getByText(`${bob.email} is the address of your account.`).waitFor();
  const login = await service.post('/api/login', { email: bob.email, password: PASSWORD });
  expect(login.body).toMatchObject({ account: { email_verified: true } });
  await context.close();
});

test('whoever has lost their address to a thief takes it back, and chooses a new password', async () => {
  const bob = await createAccount(service, 'bob');
  const session = { authorization: `Bearer ${bob.token}` };
  const follow = async (to: string, subject: string) => {
    const [, token] = (await waitForLink(service.origin, to, subject)).split('#token=');
    expect(await service.post('/api/verify-email', { token }, session)).toMatchObject({ status: 200 });
  };
  await follow(bob.email, 'Verify your email address');
  const thief = `thief-${bob.email}`;
  await service.post('/api/change-email', { email: thief, current_password: PASSWORD }, session);
  await follow(thief, 'Confirm your new email address');

  const { context, page: other } = await visit();
  const link = await waitForLink(service.origin, bob.email, 'Your email address has changed');
  await other.goto(link);
  await other.getByRole('heading', { name: 'Take your email address back' }).waitFor();
  expect(await axeViolations(other)).toEqual([]);
  await other.getByRole('button', { name: 'Take the address back' }).click();
  await other.getByText(`The email address of your account is ${bob.email}.`).waitFor();
  await other.getByRole('link', { name: 'Read the email here' }).waitFor();
  await other.goto(await waitForLink(service.origin, bob.email, 'Your account has its email address back'));
  await other.getByLabel('New password').fill(NEW_PASSWORD);
  await other.getByRole('button', { name: 'Set password' }).click();
  await other.getByRole('heading', { name: 'Home' }).waitFor();
  await other.goto(link);
  await other.getByRole('button', { name: 'Take the address back' }).click();
  await other.getByRole('heading', { name: 'This link doesn’t work' }).waitFor();
  await context.close();
});
