import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { HOUR_MS } from '../../src/shared/rules/dates.ts';
import { dieAfter } from '../support/deaths.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { runHourly } from '../support/hourly.ts';
import { heldFor, mailsTo } from '../support/mails.ts';
import { withOperatorToken } from '../support/operator.ts';
import type { Expected } from './change.ts';
import { CHANGES } from './changes.ts';

// Each change that an email about security tells, by a Worker that dies at any time.

beforeEach(() => {
  useFakeClock();
  onTestFinished(withOperatorToken());
});

const SEVERAL = 'What happened in your account';

/** Several changes of one call may be told in one email. */
const countMails = ({ to, subject }: Expected) =>
  mailsTo(to).filter(
    (mail) => mail.subject === subject || (mail.subject === SEVERAL && mail.text.includes(`${subject}. `)),
  ).length;

test.for(CHANGES)('$name is told once, whenever the Worker dies', async ({ open }) => {
  const expected: Expected[] = [];
  const lost: Expected[] = [];
  for (let queries = 1, isDead = true; isDead; queries++) {
    const opened = await open();
    isDead = await dieAfter(queries, opened.change);
    expected.push(...opened.expected);
    for (const email of opened.expected)
      if (isDead && (await email.hasHappened()) && countMails(email) === 0) lost.push(email);
  }
  expect(lost.length).toBeGreaterThan(0);
  // Nothing of the last one was cut off.
  expect(expected.slice(-1).map(countMails)).toEqual([1]);

  for (let hour = 0; hour < 2; hour++) {
    vi.advanceTimersByTime(HOUR_MS);
    await runHourly();
    for (const email of expected) {
      const { to, subject } = email;
      const count = (await email.hasHappened()) ? 1 : 0;
      expect({ to, subject, count: countMails(email) }).toEqual({ to, subject, count });
      expect(await heldFor(to)).toEqual([]);
    }
  }
});
