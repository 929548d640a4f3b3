import type { UserRow } from '../db/schema.ts';
import type { MailContent, MailKind } from '../shared/text/mail-content.ts';

/** An email to one person, about an account. */
export interface Letter<Kind extends MailKind = MailKind> {
  to: string;
  content: MailContent<Kind>;
  accountId: string;
  /** Whether the account has caused the email before it has proven an address. */
  isUnverified: boolean;
  /** Whom an email to a customer comes from: a seller, and where answers go. Without it, the service. */
  sender?: Sender;
}

export interface Sender {
  name: string;
  replyTo: string | null;
}

/** A letter to the account's own address. */
export const letterTo = <Kind extends MailKind>(
  { email, accountId, emailVerifiedAt }: Pick<UserRow, 'email' | 'accountId' | 'emailVerifiedAt'>,
  content: MailContent<Kind>,
): Letter<Kind> => ({ to: email, content, accountId, isUnverified: emailVerifiedAt === null });
