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
import { heldFor, lastMailTo, mailsTo, sendMailsBy } from '../support/mails.ts';

// Notices of a time in which no email can be sent.

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
