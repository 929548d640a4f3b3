// Purchases of all eight providers through the kills: none may be lost or doubled, and each key is mailed.
import { setTimeout as delay } from 'node:timers/promises';
import type { Service } from '../../e2e/support/service.ts';
import { expectOk } from '../customer.ts';
import type { Duplicate } from '../receiver.ts';
import { row } from '../tally.ts';
import { openMailbox } from './mailbox.ts';
import { type Outcome, readOutcome, type SoldLicense } from './outcome.ts';
import { makePurchases, toQueue } from './purchases.ts';
import { changeBuyerMails, openGumroad, openSeller, type Seller } from './seller.ts';
import { nothingSent, sendAll, type Sent } from './send.ts';

/** Licenses that are verified in the end. */
const SAMPLE = 200;
/** How long nothing may change before what is missing counts as lost: what a killed worker has begun is due a minute later. */
const STALLED_AFTER_MS = 90_000;
/** On a busy machine, the last notifications come after the last kill. */
const MOST_OF_A_ROUND_MS = 40_000;
/** Reading all purchases and licenses is work for the service, too. */
const POLL_MS = 3_000;

const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;

const countMissing = ({ lost, wrong, unmailed }: Outcome) => lost.length + wrong.length + unmailed.length;

const verifySample = async (service: Service, { apiKey }: Seller, licenses: SoldLicense[]) => {
  const sample = licenses
    .map((license) => ({ license, place: Math.random() }))
    .toSorted((a, b) => a.place - b.place)
    .slice(0, SAMPLE);
  const errors: string[] = [];
  for (const { license } of sample) {
    const input = { license_key: license.license_key };
    const verdict = expectOk(await service.post('/api/v1/licenses/verify', input, apiKey)) as {
      valid: boolean;
      status: string;
    };
    if (verdict.status !== license.status || verdict.valid !== (license.status === 'active'))
      errors.push(
        `the license of ${license.customer_email} is ${license.status}, and verifies as ${verdict.status}`,
      );
  }
  return { verified: sample.length, errors };
};

export interface ShopReport {
  lines: string[];
  errors: string[];
  mailedAgain: Duplicate[];
}

const FEW = 5;

/** Names some of many. */
const told = (what: string, names: string[]): string[] =>
  names.length === 0 ? [] : [`${names.length} purchases ${what}: ${names.slice(0, FEW).join(', ')}`];

/** Prepares a checkout and `count` purchases. The service has to run with the `variables`. */
export const openShop = async (folder: string, count: number) => {
  const purchases = makePurchases(count);
  const queue = toQueue(purchases);
  const given = purchases.filter(({ expected }) => expected.license.status === 'active').length;
  changeBuyerMails(folder);
  const [gumroad, mailbox] = await Promise.all([openGumroad(purchases), openMailbox()]);
  const read = (service: Service, seller: Seller) => readOutcome(service, mailbox, seller, purchases);

  const report = async (
    service: Service,
    seller: Seller,
    { refused, takenMs }: Sent,
    killedMs: number,
  ): Promise<ShopReport> => {
    const { licenses, mailed, lost, doubled, wrong, unmailed, mailedAgain } = await read(service, seller);
    const { verified, errors } = await verifySample(service, seller, licenses);
    const again = [...refused].map(([status, count]) => `${count} × ${status === 0 ? 'no answer' : status}`);
    const told2xx = queue.length - purchases.reduce((sum, { deliveries }) => sum + deliveries.length, 0);
    return {
      lines: [
        row('', 'purchases', 'licenses', 'mails'),
        row('bought', purchases.length, `${given} or more`, `${given} or more`),
        row('made', purchases.length - lost.length, licenses.length, mailed + mailedAgain.length),
        row('lost', lost.length, '', unmailed.length),
        row('doubled', doubled.length, '', mailedAgain.length),
        '',
        `notifications  ${queue.length}, ${told2xx} of them copies, ${takenMs.filter((ms) => ms < killedMs).length} taken before the last kill; sent again: ${again.join(', ') || 'none'}`,
        `sold licenses  ${verified} of ${licenses.length} verified, ${errors.length} with another verdict`,
      ],
      errors: [
        ...errors,
        ...told('are lost', lost),
        ...told('are there twice', doubled),
        ...told('are not as their facts say', wrong),
        ...told('have no mail', unmailed),
      ],
      mailedAgain,
    };
  };

  /** Waits until everything is there, with the scheduled work, which finds what a kill has interrupted. */
  const waitForAll = async (service: Service, seller: Seller): Promise<void> => {
    let missing = Infinity;
    let changedMs = Date.now();
    while (missing > 0 && Date.now() - changedMs < STALLED_AFTER_MS) {
      await fetch(`${service.origin}/cdn-cgi/handler/scheduled`);
      await delay(POLL_MS);
      const now = countMissing(await read(service, seller));
      if (now !== missing) changedMs = Date.now();
      missing = now;
    }
  };

  return {
    variables: [gumroad.variable, mailbox.variable],
    close: () => {
      gumroad.close();
      mailbox.close();
    },
    /** Opens the stores, and begins to sell. `service` returns null while the service is down. */
    start: async (first: Service, service: () => Service | null) => {
      const seller = await openSeller(first, mailbox);
      const startMs = Date.now();
      const sent = nothingSent();
      const sending = sendAll(queue, seller, service, sent).then(() =>
        console.log(`shop           ${queue.length} notifications taken in ${seconds(Date.now() - startMs)}`),
      );
      return {
        /** Waits until a share of the notifications was taken, but not for long: other loads go on meanwhile. */
        untilTaken: async (share: number): Promise<void> => {
          const endMs = Date.now() + MOST_OF_A_ROUND_MS;
          while (sent.takenMs.length < share * queue.length && Date.now() < endMs) await delay(200);
        },
        finish: async (last: Service): Promise<void> => {
          await sending;
          const sentMs = Date.now();
          await waitForAll(last, seller);
          console.log(`shop           done ${seconds(Date.now() - sentMs)} after the last notification`);
        },
        /** `killedMs` is when the last kill came. */
        report: async (last: Service, killedMs: number) => report(last, seller, sent, killedMs),
      };
    },
  };
};
