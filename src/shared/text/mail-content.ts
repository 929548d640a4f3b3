/** What an email says, as plain text. */
export interface MailContent {
  /**
   * A `notice` says what has happened to an account, and is never dropped. A `request` is what somebody has asked for, and can
   * be asked for again. Of a `way_in`, a link by which its address gets into the account, the first in an hour is always sent.
   */
  kind: 'notice' | 'request' | 'way_in';
  subject: string;
  paragraphs: string[];
  /** Shown as a list of names and values. */
  facts?: [name: string, value: string][];
  link?: { label: string; url: string };
  /** What to do if the recipient didn't expect the email. */
  note: string;
}
