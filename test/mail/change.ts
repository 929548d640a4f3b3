import { type Account, register } from '../support/client.ts';
import { firstD1 } from '../support/databases.ts';
import { heldFor, mailsTo } from '../support/mails.ts';
import { verifyAddress } from '../support/sign-in.ts';
import { enableTwoFactor } from '../support/two-factor.ts';
import { waitUntil } from '../support/wait-until.ts';

/** An email that is to come if something has happened. */
export interface Expected {
  to: string;
  subject: string;
  hasHappened: () => Promise<boolean>;
}

export interface Change {
  name: string;
  open: () => Promise<{ change: () => Promise<unknown>; expected: Expected[] }>;
}

export const isFound =
  (d1: D1Database, condition: string, ...values: string[]) =>
  async () =>
    (await d1
      .prepare(`SELECT 1 FROM ${condition}`)
      .bind(...values)
      .first()) !== null;

/** The email to the account's address, if the audit log has an entry of its cause. */
export const told = ({ accountId, email }: Account, subject: string, action: string): Expected[] => {
  const isEntry = 'audit_log WHERE account_id = ? AND action = ?';
  return [{ to: email, subject, hasHappened: isFound(firstD1, isEntry, accountId, action) }];
};

export const registerVerified = async () => {
  const ada = await register();
  await verifyAddress(ada.accountId);
  return ada;
};

/** Has got the email about two-factor authentication already. */
export const registerTwoFactor = async () => {
  const ada = await enableTwoFactor(await registerVerified());
  await waitUntil(() => mailsTo(ada.email).length === 1);
  await waitUntil(async () => (await heldFor(ada.email)).length === 0);
  return ada;
};
