/** What an email says, as plain text. */
export interface MailContent {
  /**
   * A `notice` says what has happened to an account, and is never dropped. What somebody has asked for, such as a link, can
   * be asked for again.
   */
  kind: 'notice' | 'request';
  subject: string;
  paragraphs: string[];
  /** Shown as a list of names and values. */
  facts?: [name: string, value: string][];
  link?: { label: string; url: string };
  /** What to do if the recipient didn't expect the email. */
  note: string;
}
