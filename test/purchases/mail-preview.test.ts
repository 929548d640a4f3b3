import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import { workOnStores } from '../../src/stores/work.ts';
import { openShop, paid } from '../stores/shop.ts';
import { storedEntries } from '../support/audit.ts';
import { keepMails, mailsTo, sendMailsBy } from '../support/mails.ts';
import { openPortal } from '../support/portal.ts';
import { verifyAddress } from '../support/sign-in.ts';

const MAIL = '/api/v1/products/mill/mail';
const WORDS = {
  from_name: 'Mill & Sons',
  intro: 'Open the <mill>.\nPaste the key.',
  support_url: 'https://example.com/help?a=1&b=2',
};

/** A seller who may write to buyers. */
const openVerified = async () => {
  const shop = await openShop();
  await verifyAddress(shop.ada.accountId);
  await shop.offer('pro', { grant: 'perpetual' });
  return shop;
};

test('the preview of an email is what the buyer gets, but for the key', async () => {
  keepMails();
  const shop = await openVerified();
  await openPortal(shop.ada);
  await shop.ada.asSession('PATCH', MAIL, WORDS);
  const { body: preview } = await shop.ada.asSession('POST', `${MAIL}/preview`, {});
  await shop.notify(paid('1'));
  await workOnStores(env, shop.ada.accountId);
  const [sent] = mailsTo('grace@example.com');
  const [license] = await shop.licenses();
  const withKey = (text: string) => text.replace('7K3QD-9WZXA-M2RTB-H5NVE-40GPW', license.license_key);
  expect(sent).toMatchObject({
    from: { name: preview.from_name },
    replyTo: preview.reply_to,
    subject: preview.subject,
    text: withKey(preview.text),
    html: withKey(preview.html),
  });
  expect(preview.from_name).toBe('Mill & Sons');
  expect(preview.html).toContain('Open the &lt;mill&gt;.<br>Paste the key.');
});

test('a preview takes words that are not saved, and null for the default, and saves nothing', async () => {
  const { ada } = await openVerified();
  await ada.asSession('PATCH', MAIL, WORDS);
  const draft = { from_name: 'The mill', intro: null };
  const { body } = await ada.asSession('POST', `${MAIL}/preview`, draft);
  expect(body.text).toContain('from The mill.');
  expect(body.text).toContain('Enter the key in the application');
  expect(body.text).toContain(WORDS.support_url);
  expect((await ada.asSession('GET', MAIL)).body).toEqual({ code: 'mill', ...WORDS });
});

test('a test of the email goes to the account’s own address, five times an hour', async () => {
  keepMails();
  const { ada } = await openVerified();
  const before = (await storedEntries()).length;
  const { body: preview } = await ada.asSession('POST', `${MAIL}/preview`, WORDS);
  for (let i = 0; i < 5; i++) {
    const { status, body } = await ada.asSession('POST', `${MAIL}/test`, WORDS);
    expect([status, body]).toEqual([200, { sent_to: ada.email }]);
  }
  const refused = await ada.asSession('POST', `${MAIL}/test`, WORDS);
  expect([refused.status, refused.body.error.code]).toEqual([429, 'rate_limit_exceeded']);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(60);
  const sent = mailsTo(ada.email);
  expect(sent).toHaveLength(5);
  const { subject, text, html } = preview;
  expect(sent[0]).toMatchObject({ from: { name: 'Mill & Sons' }, subject, text, html });
  expect((await storedEntries()).length - before).toBe(5);
});

test('an account without a verified address tests no email', async () => {
  keepMails();
  const { ada } = await openShop();
  const { status, body } = await ada.asSession('POST', `${MAIL}/test`, {});
  expect([status, body.error.code]).toEqual([409, 'invalid_transition']);
  expect(mailsTo(ada.email)).toEqual([]);
});

test('a test of the email that can’t be sent says so', async () => {
  const { ada } = await openVerified();
  const stop = sendMailsBy(() => Promise.reject(new Error('mailbox unavailable')));
  const { status, body } = await ada.asSession('POST', `${MAIL}/test`, {});
  stop();
  expect([status, body.error.message]).toEqual([503, 'The Email Couldn’t Be Sent']);
});
