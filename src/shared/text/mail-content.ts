export type MailKind =
  /** Says what concerns how one gets into an account. It is committed with the change, and never dropped. */
  | 'security'
  /** Says what else has happened to an account. It is never dropped. */
  | 'notice'
  /** What somebody has asked for, and can ask for again. */
  | 'request'
  /** A link by which its address gets into the account. The first in an hour is always sent. */
  | 'way_in';

/** What an email says, as plain text. */
export interface MailContent<Kind extends MailKind = MailKind> {
  kind: Kind;
  subject: string;
  paragraphs: string[];
  /** Shown as a list of names and values. */
  facts?: [name: string, value: string][];
  link?: { label: string; url: string };
  /** What to do if the recipient didn't expect the email. */
  note: string;
}
