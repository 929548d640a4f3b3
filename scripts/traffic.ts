// `npm run traffic`: says what a deployed service was asked, how it answered, and how fast its verifies were, of all its isolates
// together. It reads what src/http/request-counts.ts has written to Analytics Engine. See docs/running.md#totals-of-the-traffic.
import { parseArgs } from 'node:util';
import { openAccount } from './deploy/cloudflare.ts';
import { datasetOf, readBase } from './deploy/configuration.ts';
import { DeployError, fail } from './deploy/fail.ts';
import { PRODUCTION, readSettings, targetOf } from './deploy/target.ts';
import { findToken } from './deploy/wrangler.ts';

const VERIFY = '/api/v1/licenses/verify';
const MOST_HOURS = 2_160;
const KINDS = 40;

const { values: options } = parseArgs({
  options: { env: { type: 'string', default: PRODUCTION }, hours: { type: 'string', default: '24' } },
});

interface Kind {
  method: string;
  route: string;
  status: string;
  code: string;
  requests: number | string;
}

interface Total {
  requests: number | string;
  refused: number | string;
  failed: number | string;
}

type Times = Record<'p50' | 'p95' | 'p99', number | string | null>;

const counted = (value: number | string) => Number(value).toLocaleString('en-US');

const shareOf = (part: number | string, { requests }: Total) =>
  `${counted(part)} (${Number(requests) === 0 ? 0 : ((100 * Number(part)) / Number(requests)).toFixed(2)} %)`;

/** A point may stand for several: Analytics Engine keeps a sample of many. */
const WEIGHT = '_sample_interval';

const run = async (): Promise<void> => {
  const hours = Number(options.hours);
  if (!Number.isInteger(hours) || hours < 1 || hours > MOST_HOURS)
    fail(`--hours takes a number from 1 to ${MOST_HOURS}: Analytics Engine keeps three months.`);
  const target = targetOf(options.env, readBase().name);
  const { account_id: accountId, traffic } = readSettings(target);
  if (!accountId || !traffic)
    fail(`${target.settingsFile} has no "traffic": true, or was not deployed. See docs/running.md.`);
  const token = (await findToken()) ?? fail('Set CLOUDFLARE_API_TOKEN, or run `npx wrangler login`.');
  const { queryAnalytics } = openAccount(token, accountId ?? '');
  const from = `FROM ${datasetOf(target)} WHERE timestamp > NOW() - INTERVAL '${hours}' HOUR`;
  const quantile = (share: number) => `quantileExactWeighted(${share})(double1, ${WEIGHT})`;
  const [totals, times, kinds] = await Promise.all([
    queryAnalytics<Total>(
      `SELECT SUM(${WEIGHT}) AS requests, SUM(IF(blob3 >= '400' AND blob3 < '500', ${WEIGHT}, 0)) AS refused, SUM(IF(blob3 >= '500', ${WEIGHT}, 0)) AS failed ${from}`,
    ),
    queryAnalytics<Times>(
      `SELECT ${quantile(0.5)} AS p50, ${quantile(0.95)} AS p95, ${quantile(0.99)} AS p99 ${from} AND blob2 = '${VERIFY}' AND blob3 = '200'`,
    ),
    queryAnalytics<Kind>(
      `SELECT blob1 AS method, blob2 AS route, blob3 AS status, blob4 AS code, SUM(${WEIGHT}) AS requests ${from} GROUP BY method, route, status, code ORDER BY requests DESC LIMIT ${KINDS}`,
    ),
  ]);
  const total = totals[0] ?? { requests: 0, refused: 0, failed: 0 };
  console.log(`${target.name}, the last ${hours} hours`);
  console.log(`requests  ${counted(total.requests)}`);
  console.log(`4xx       ${shareOf(total.refused, total)}`);
  console.log(`5xx       ${shareOf(total.failed, total)}`);
  const [{ p50, p95, p99 } = { p50: null, p95: null, p99: null }] = times;
  if (p50 !== null) console.log(`verify    p50 ${p50} ms, p95 ${p95} ms, p99 ${p99} ms in the Worker`);
  for (const { method, route, status, code, requests } of kinds)
    console.log(`${counted(requests).padStart(12)}  ${method} ${route} ${status}${code && ` ${code}`}`);
};

try {
  await run();
} catch (error) {
  if (!(error instanceof DeployError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
