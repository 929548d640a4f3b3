import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import { webhookDisabled } from '../../src/mail/account-templates.ts';
import { renderMail } from '../../src/mail/render.ts';
import { sendMail } from '../../src/mail/send.ts';
import * as templates from '../../src/mail/templates.ts';
import { captureLogs } from '../http/security.ts';
import { lastMailTo } from '../support/mails.ts';

test('text and HTML say the same, and the HTML escapes what it quotes', () => {
  const hostile = `<script>alert("&'")</script>`;
  const mail = renderMail({
    kind: 'notice',
    subject: hostile,
    paragraphs: ['One', hostile],
    facts: [['Name', hostile]],
    link: { label: hostile, url: 'https://latchkey.test/reset-password?a=1&b=2#token=lkt_x' },
    note: 'Or ignore it.',
  });
  expect(mail.subject).toBe(hostile);
  expect(mail.text).toBe(
    `One\n\n${hostile}\n\nName: ${hostile}\n\n${hostile}:\nhttps://latchkey.test/reset-password?a=1&b=2#token=lkt_x\n\nOr ignore it.\n`,
  );
  expect(mail.html).not.toContain('<script');
  expect(mail.html.match(/&lt;script&gt;alert\(&quot;&amp;&#39;&quot;\)&lt;\/script&gt;/g)).toHaveLength(5);
  expect(mail.html.match(/https:[^"<]+/g)).toEqual(
    Array.from({ length: 3 }, () => 'https://latchkey.test/reset-password?a=1&amp;b=2#token=lkt_x'),
  );
});

test('a sign-in email names the browser and shows no text of the User-Agent header', () => {
  const nameOf = (userAgent: string | null) => {
    const { text } = renderMail(
      templates.newSignIn('https://latchkey.test', { ip: '192.0.2.7', userAgent }, 0),
    );
    return /^Browser: (.*)$/m.exec(text)?.[1];
  };
  const mozilla = (system: string, rest: string) => nameOf(`Mozilla/5.0 (${system}) ${rest}`);
  expect(mozilla('Macintosh; Intel Mac OS X 10_15_7', 'Chrome/140.0.0.0 Safari/537.36')).toBe(
    'Chrome on macOS',
  );
  expect(mozilla('X11; Linux x86_64', 'HeadlessChrome/140.0.0.0 Safari/537.36')).toBe('Chrome on Linux');
  expect(mozilla('Windows NT 10.0; Win64; x64', 'Chrome/140.0.0.0 Safari/537.36 Edg/140.0')).toBe(
    'Edge on Windows',
  );
  expect(mozilla('X11; Linux x86_64; rv:140.0', 'Gecko/20100101 Firefox/140.0')).toBe('Firefox on Linux');
  expect(mozilla('iPhone; CPU iPhone OS 18_0 like Mac OS X', 'Version/18.0 Mobile Safari/604.1')).toBe(
    'Safari on iOS',
  );
  expect(mozilla('Linux; Android 15', 'Chrome/140.0.0.0 Mobile Safari/537.36')).toBe('Chrome on Android');
  expect(nameOf('Buy at https://evil.example')).toBe('Unknown browser');
  expect(nameOf(null)).toBe('Unknown browser');
});

test('an email comes from the configured sender, a failure is only logged, and without a sender none is sent', async () => {
  const content = webhookDisabled('hooks.example.com', true);
  const letter = { to: 'sender@example.com', content, accountId: 'acct_x', isUnverified: false };
  await sendMail(env, letter);
  expect(await lastMailTo('sender@example.com')).toEqual({
    ...renderMail(content),
    to: 'sender@example.com',
    from: { name: 'Latchkey', email: 'latchkey@example.com' },
  });

  await sendMail({ ...env, MAIL_FROM: '' }, letter);
  await lastMailTo('sender@example.com', 1);

  const log = captureLogs();
  const EMAIL = { send: () => Promise.reject(new Error('The sender is not verified.')) };
  await sendMail({ ...env, EMAIL }, letter);
  expect(log.stop()).toMatch(/"event":"mail_not_sent".*The sender is not verified\./);
});
