// What the service has made of purchases, beside what it should have.
import { isoDate } from '../../../src/shared/rules/dates.ts';
import type { Service } from '../../e2e/support/service.ts';
import { type Customer, expectOk, withinRateLimit } from '../customer.ts';
import type { Duplicate } from '../receiver.ts';
import type { Mailbox } from './mailbox.ts';
import type { Purchase } from './purchases.ts';

export interface SoldLicense {
  license_key: string;
  status: string;
  expires_at: string | null;
  customer_email: string;
}

interface Row {
  status: string;
  reason: string | null;
  customer_email: string | null;
}

const listAll = async <Item>(service: Service, { session }: Pick<Customer, 'session'>, path: string) => {
  const items: Item[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const after: string = cursor === '' ? '' : `&cursor=${cursor}`;
    const page = expectOk(await withinRateLimit(() => service.get(`${path}?limit=100${after}`, session))) as {
      data: Item[];
      next_cursor: string | null;
    };
    items.push(...page.data);
    cursor = page.next_cursor;
  }
  return items;
};

export interface Outcome {
  purchases: number;
  licenses: SoldLicense[];
  /** Purchases whose key was mailed. */
  mailed: number;
  /** Purchases that are not there, or have no license although they should. */
  lost: string[];
  doubled: string[];
  wrong: string[];
  unmailed: string[];
  /** Emails that were sent although one with the same key had been. */
  mailedAgain: Duplicate[];
}

/** Returns the errors of one license. One that is past its end is still what its purchase made it. */
const isAsExpected = (license: SoldLicense, { status, expiresAt }: Purchase['expected']['license']) =>
  license.expires_at === expiresAt &&
  (license.status === status || (license.status === 'expired' && expiresAt < isoDate(Date.now())));

/** Compares what there is with what was bought. */
export const readOutcome = async (
  service: Service,
  { mailed }: Pick<Mailbox, 'mailed'>,
  seller: Pick<Customer, 'session'>,
  purchases: Purchase[],
): Promise<Outcome> => {
  const rows = await listAll<Row>(service, seller, '/api/purchases');
  const licenses = await listAll<SoldLicense>(service, seller, '/api/v1/licenses');
  const rowsOf = Map.groupBy(rows, (row) => row.customer_email);
  const licensesOf = Map.groupBy(licenses, (license) => license.customer_email);
  const outcome: Outcome = {
    purchases: rows.length,
    licenses,
    mailed: 0,
    lost: [],
    doubled: [],
    wrong: [],
    unmailed: [],
    mailedAgain: [],
  };
  for (const { email, expected } of purchases) {
    const [row, ...otherRows] = rowsOf.get(email) ?? [];
    const [license, ...otherLicenses] = licensesOf.get(email) ?? [];
    // A refund or a dispute that is known before the sale leaves nothing to give, and one before the email nothing to mail.
    const isGiven = expected.license.status === 'active';
    if (!row || (isGiven && !license)) outcome.lost.push(`${email} ${row?.status} ${row?.reason}`);
    if (otherRows.length + otherLicenses.length > 0) outcome.doubled.push(email);
    if (row && row.status !== expected.status) outcome.wrong.push(`${email} is ${row.status}`);
    if (license && !isAsExpected(license, expected.license))
      outcome.wrong.push(`the license of ${email} is ${license.status} through ${license.expires_at}`);
    const sent = mailed.get(license?.license_key ?? '') ?? [];
    if (sent.length > 0) outcome.mailed++;
    else if (isGiven) outcome.unmailed.push(email);
    for (const [i, repeatedAtMs] of sent.slice(1).entries())
      outcome.mailedAgain.push({ answeredAtMs: sent[i] ?? 0, repeatedAtMs });
  }
  return outcome;
};
