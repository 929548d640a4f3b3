import { env } from 'cloudflare:workers';
import { beforeEach, expect, test, vi } from 'vitest';
import { heldNotices } from '../../src/db/schema.ts';
import { webhookDisabled } from '../../src/mail/account-templates.ts';
import { sendHeldNotices } from '../../src/mail/held.ts';
import { sendMail } from '../../src/mail/send.ts';
import { settingsOf } from '../../src/shared/config/settings.ts';
import { seal } from '../../src/shared/crypto/sealing.ts';
import { HOUR_MS } from '../../src/shared/rules/dates.ts';
import { captureLogs } from '../http/security.ts';
import { publicCtx } from '../support/databases.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { runHourly } from '../support/hourly.ts';
import { heldFor, lastMailTo, mailsTo, sendMailsBy } from '../support/mails.ts';

// Notices of a time in which no email can be sent, and of one in which there are very many.

beforeEach(() => {
  useFakeClock();
});

const content = webhookDisabled('hooks.example.com', true);
const subjectsTo = (email: string) => mailsTo(email).map(({ subject }) => subject);

/** A notice that is held while no email can be sent. Later hours go on so, until `stop` is called. */
const openOutage = async (to: string) => {
  const letter = { to, content, accountId: 'acct_x', isUnverified: false };
  captureLogs();
  const stop = sendMailsBy(() => Promise.reject(new Error('The mail service is down.')));
  const notify = () => sendMail(env, letter);
  const runHours = async (hours: number) => {
    for (let i = 0; i < hours; i++) {
      vi.advanceTimersByTime(HOUR_MS);
      await sendHeldNotices({ db: publicCtx.firstDb, env });
    }
  };
  await notify();
  return { notify, runHours, stop };
};

test('a notice is sent if email is back just before it would be given up', async () => {
  const to = 'just-in-time@example.com';
  const { runHours, stop } = await openOutage(to);
  // The first try, and almost three days.
  await runHours(1 + 70);
  stop();
  await runHours(2);
  expect(subjectsTo(to)).toEqual([content.subject]);
});

test('a notice that joins one that has long failed is tried within an hour', async () => {
  const to = 'joined-soon@example.com';
  const { notify, runHours, stop } = await openOutage(to);
  await runHours(40);
  await notify();
  stop();
  await runHours(1);
  expect((await lastMailTo(to)).text).toContain('(2 times, the last shown)');
});

test('a notice that joins one that has long failed is tried for three days of its own', async () => {
  const to = 'joined-late@example.com';
  const { notify, runHours, stop } = await openOutage(to);
  await runHours(60);
  await notify();
  await runHours(70);
  stop();
  await runHours(2);
  expect((await lastMailTo(to)).text).toContain('(2 times, the last shown)');
});

test('a notice whose link can’t be unsealed waits for its key, and no other of its address waits with it', async () => {
  const to = 'key-is-missing@example.com';
  const withKey = {
    ...env,
    SEALING_KEYS: `k9:${btoa('a-key-that-was-removed-too-early')},${env.SEALING_KEYS}`,
  };
  const token = await seal(settingsOf(withKey).sealing, 'lkt_restore', [to]);
  const link = { label: 'Take this address back', url: `https://example.com/restore-email#token=${token}` };
  const waiting = { email: to, accountId: 'acct_x', dueAt: Date.now() };
  await publicCtx.firstDb.insert(heldNotices).values([
    { ...waiting, subject: 'sealed', content: { ...content, subject: 'sealed', link } },
    { ...waiting, subject: content.subject, content },
  ]);
  const log = captureLogs();
  await sendHeldNotices({ db: publicCtx.firstDb, env });
  expect(JSON.stringify(log.stop())).toContain('mail_not_sent');
  expect(subjectsTo(to)).toEqual([content.subject]);
  expect(await heldFor(to)).toEqual([{ subject: 'sealed', times: 1 }]);
  vi.advanceTimersByTime(HOUR_MS);
  await sendHeldNotices({ db: publicCtx.firstDb, env: withKey });
  expect((await lastMailTo(to, 2)).text).toContain('#token=lkt_restore');
});

/** Holds notices that are due, in this order. */
const holdDue = async (notices: { email: string; subject?: string }[]) => {
  for (const [i, { email, subject = content.subject }] of notices.entries()) {
    const dueAt = Date.now() - notices.length + i;
    await publicCtx.firstDb
      .insert(heldNotices)
      .values({ email, subject, accountId: 'acct_x', content, dueAt });
  }
};

const addresses = (count: number, domain: string) =>
  Array.from({ length: count }, (_, i) => ({ email: `person-${i}@${domain}` }));

test('however many notices are due, an hour sends all of them', async () => {
  const many = Array.from({ length: 120 }, (_, i) => ({ email: 'many@due.example', subject: `Notice ${i}` }));
  const others = addresses(210, 'due.example');
  await holdDue([...many, ...others]);
  await runHourly();
  expect(mailsTo('many@due.example')).toHaveLength(1);
  for (const { email } of others) expect(mailsTo(email)).toHaveLength(1);
});

test('an address with many notices takes no place of another in a run', async () => {
  const many = Array.from({ length: 120 }, (_, i) => ({
    email: 'flooded@due.example',
    subject: `Notice ${i}`,
  }));
  await holdDue([...many, { email: 'second@due.example' }]);
  expect(await sendHeldNotices({ db: publicCtx.firstDb, env })).toBe(false);
  expect(mailsTo('second@due.example')).toHaveLength(1);
});

test('a notice that can’t be sent is tried once in an hour, however many others are sent', async () => {
  captureLogs();
  const tries: string[] = [];
  const { EMAIL } = env;
  const send = (mail: EmailMessage) => {
    tries.push(mail.to);
    return mail.to.endsWith('refused.example')
      ? Promise.reject(new Error('The recipient is invalid.'))
      : EMAIL.send(mail);
  };
  const stop = sendMailsBy(send as SendEmail['send']);
  const refused = addresses(110, 'refused.example');
  const sent = addresses(95, 'sent.example');
  await holdDue([...refused.slice(0, 10), ...sent, ...refused.slice(10)]);
  await runHourly();
  // The first run sends 90. The second sends five and comes to 95 that fail, the third to five.
  expect(tries.toSorted()).toEqual([...refused, ...sent].map(({ email }) => email).toSorted());
  await holdDue(addresses(100, 'other.refused.example'));
  expect(await sendHeldNotices({ db: publicCtx.firstDb, env })).toBe(false);
  stop();
});
