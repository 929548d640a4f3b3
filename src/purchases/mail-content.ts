import type { MailContent } from '../shared/text/mail-content.ts';

/** What an email to a buyer says of the seller. */
export interface Seller {
  name: string;
  /** The account's own address, to which answers go. */
  email: string;
  product: string;
  /** The product's own text. */
  intro: string | null;
  supportUrl: string | null;
  /** Where customers see their licenses. */
  portalUrl: string | null;
}

export interface BoughtKey {
  product: string;
  licenseKey: string;
}

const HOW = 'Enter the key in the application to activate it.';

/** The email with what was bought. */
export const keysBought = (
  { name, product, intro, supportUrl, portalUrl }: Seller,
  keys: BoughtKey[],
  isTest: boolean,
): MailContent<'request'> => ({
  kind: 'request',
  subject: `${isTest ? 'Test: ' : ''}Your license key${keys.length === 1 ? '' : 's'} for ${product}`,
  paragraphs: [
    ...(isTest ? ['Nobody has paid for this: the purchase was made in the store’s test mode.'] : []),
    `Thank you for buying ${product} from ${name}.`,
    intro ?? HOW,
  ],
  facts: keys.map((key, i): [string, string] => [
    keys.length === 1 ? 'License key' : `License key ${i + 1} (${key.product})`,
    key.licenseKey,
  ]),
  ...(portalUrl !== null && { link: { label: 'See your licenses', url: portalUrl } }),
  note: `${supportUrl === null ? 'If you need help, reply to this email.' : `If you need help: ${supportUrl}`} Keep this email safe: anyone who has a key can use it.`,
});
