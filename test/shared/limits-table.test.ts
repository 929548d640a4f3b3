import { expect, test } from 'vitest';
import { MACHINES_PER_LICENSE, MAX_BEGINNINGS } from '../../src/gate/home/find-licenses.ts';
import { SPARE_MACHINES } from '../../src/gate/rules/seats.ts';
import { MAX_CANDIDATES } from '../../src/licenses/candidates.ts';
import { MAX_API_KEYS } from '../../src/shared/rules/api-keys.ts';
import { DAY_MS, HOUR_MS } from '../../src/shared/rules/dates.ts';
import {
  CHECKOUT_PACE,
  EXPORT_PACE,
  IMPORT_PACE,
  SEARCH_PACE,
  SESSION_PACE,
  UNKNOWN_LICENSES_PACE,
  VISITOR_PACE,
} from '../../src/shared/rules/paces.ts';
import {
  CHANGES_WHEN_FULL,
  MACHINES_SHARE,
  type Plan,
  PLAN_NAMES,
  PLANS,
  UNVERIFIED_SHARE,
} from '../../src/shared/rules/plans.ts';
import { RATE_WINDOW_MS } from '../../src/shared/rules/rate.ts';
import {
  BUYER_MAILS_PER_DAY,
  MAX_BYTES_WHEN_FULL,
  MAX_MAILS,
  MAX_OFFERS,
  MAX_QUANTITY,
  MAX_STORE_SECRETS,
  MAX_STORES,
} from '../../src/shared/rules/stores.ts';
import { MAX_PRODUCTS } from '../../src/shared/rules/terms.ts';
import { MAX_IMPORT_LINES } from '../../src/shared/rules/transfer-limits.ts';
import {
  MAX_ENDPOINTS,
  MAX_LISTENERS,
  MAX_REPLAYED_PER_DAY,
  MAX_SECRETS,
} from '../../src/shared/rules/webhooks.ts';
import {
  browserLimits,
  confirmLimits,
  erasureLimits,
  providerLimits,
  forgotPasswordLimits,
  fullStoreLimits,
  type Limit,
  loginLimits,
  mailLimits,
  operatorLimits,
  portalChangeLimits,
  portalCodeLimits,
  portalAddressLimits,
  portalKeysLimits,
  portalLinkLimits,
  portalMailLimits,
  portalSettingsLimits,
  portalSignInLimits,
  recipientLimits,
  registerLimits,
  resetPasswordLimits,
  secondStepLimits,
  unverifiedLimits,
  wayInLimit,
} from '../../src/users/limits.ts';

const [docs = ''] = Object.values(
  import.meta.glob<string>('../../docs/limits.md', { query: '?raw', import: 'default', eager: true }),
);

const count = (value: number) => value.toLocaleString('en-US');
const perPlan = (values: number[], text = count) => values.map((value) => text(value)).join(', ');
const ofPlans = (limit: keyof Plan, text = count) =>
  perPlan(
    PLAN_NAMES.map((name) => PLANS[name][limit]),
    text,
  );
const size = (bytes: number) => (bytes < 1e9 ? `${bytes / 1e6} MB` : `${bytes / 1e9} GB`);

const WINDOWS = new Map([
  [15 * 60_000, 'in 15 minutes'],
  [60_000, 'a minute'],
  [HOUR_MS, 'an hour'],
  [DAY_MS, 'a day'],
]);
const within = (calls: number, windowMs: number) => `${count(calls)} ${WINDOWS.get(windowMs)}`;
const named = (limits: Limit[], ...names: string[]) =>
  names
    .map((name) => limits.find((limit) => limit.name === name))
    .map((limit) => limit && within(limit.attempts, limit.windowMs))
    .join(', ');

const transfer = ({ lines, length }: typeof IMPORT_PACE) =>
  `One transfer at a time, and for each call of a key's rate ${lines} lines or ${count(length)} characters`;

const pace = (perSecond: number, windowMs: number) =>
  `${count(perSecond)} a second, ${count((perSecond * windowMs) / 1_000)} at once`;
const twice = RATE_WINDOW_MS === 2_000 ? ', twice that at once' : '';
const [login, session] = [loginLimits('', ''), { kind: 'session', id: '' } as const];

const LIMITS = [
  `${ofPlans('callsPerSecond')} a second${twice}`,
  `${ofPlans('accountCallsPerSecond')} a second${twice}`,
  `${PLANS.free.callsPerSecond} a second`,
  `${ofPlans('callsPerSecond')} a second`,
  pace(SESSION_PACE.callsPerSecond, SESSION_PACE.windowMs),
  pace(SEARCH_PACE.licensesPerSecond, SEARCH_PACE.windowMs),
  // A page of 100 licenses, and what a page that stays short looks through besides.
  count((100 + MAX_CANDIDATES) * MACHINES_PER_LICENSE),
  count(MAX_BEGINNINGS),
  `${ofPlans('apiLimit')} a period, for machines of customers a quarter more`,
  within(UNKNOWN_LICENSES_PACE.ofAddress, UNKNOWN_LICENSES_PACE.windowMs),
  within(UNKNOWN_LICENSES_PACE.inAll, UNKNOWN_LICENSES_PACE.windowMs),
  transfer(IMPORT_PACE),
  transfer(EXPORT_PACE),
  count(MAX_IMPORT_LINES),
  `${ofPlans('changesPerDay')} a day`,
  `${CHANGES_WHEN_FULL} changes of a day each`,
  ofPlans('storageBytes', size),
  ofPlans('storageBytes', (bytes) => size(bytes / MACHINES_SHARE)),
  count(SPARE_MACHINES),
  ofPlans('licenseLimit'),
  count(MAX_API_KEYS),
  count(MAX_PRODUCTS),
  count(MAX_ENDPOINTS),
  count(MAX_STORES),
  count(MAX_OFFERS),
  `${MAX_QUANTITY}; ${MAX_MAILS}`,
  named(mailLimits('test', ''), 'mail-test'),
  `${perPlan(PLAN_NAMES.map((name) => BUYER_MAILS_PER_DAY[name]))} a day`,
  `1 MiB, and ${MAX_BYTES_WHEN_FULL / 1_024} KiB once the account stores as much as it may`,
  '50 a second, 100 at once',
  `${perPlan(PLAN_NAMES.map((name) => fullStoreLimits('', PLANS[name].changesPerDay).attempts))} a day`,
  count(MAX_SECRETS),
  count(MAX_STORE_SECRETS),
  `${perPlan(PLAN_NAMES.map((name) => MAX_LISTENERS[name]))} at a time`,
  within(MAX_REPLAYED_PER_DAY, DAY_MS),
  within(CHECKOUT_PACE.checkouts, CHECKOUT_PACE.windowMs),
  named(providerLimits(''), 'payment-provider'),
  named(erasureLimits(''), 'erase-customer'),
  `${VISITOR_PACE.callsPerSecond} a second, ${(VISITOR_PACE.callsPerSecond * RATE_WINDOW_MS) / 1_000} at once`,
  named(registerLimits(''), 'register-ip'),
  named(login, 'login-email'),
  named(login, 'login-ip'),
  named(secondStepLimits('code', '', { accountId: '', passwordChangedAt: null }), 'login-code'),
  named(secondStepLimits('token', '', { accountId: '', passwordChangedAt: null }), 'login-success-token'),
  named(browserLimits('', ''), 'login-browser'),
  named(confirmLimits('', session), 'confirm', 'confirm-day'),
  named(login, 'login-success-email'),
  named(recipientLimits(''), 'mail-to', 'mail-to-day'),
  named([unverifiedLimits('')], 'mail-unverified'),
  named([wayInLimit('', '')], 'mail-way-in'),
  named([...forgotPasswordLimits(''), ...resetPasswordLimits('')], 'forgot-ip'),
  named(portalMailLimits(''), 'portal-mail'),
  named(portalKeysLimits('', ''), 'portal-keys', 'portal-keys-day'),
  named(portalSignInLimits(''), 'portal-sign-in-ip'),
  named(portalCodeLimits('', ''), 'portal-code-ip'),
  named(portalCodeLimits('', ''), 'portal-code-key'),
  named(
    [...portalChangeLimits('rotate', ''), ...portalChangeLimits('release', '')],
    'portal-rotate',
    'portal-release',
  ),
  named(portalAddressLimits('', '', ''), 'portal-change-email', 'portal-change-email-day'),
  named(portalLinkLimits(''), 'portal-store-link'),
  named(portalSettingsLimits(''), 'portal-settings'),
  named(operatorLimits(''), 'operator-ip'),
];

test('docs/limits.md lists each limit with the number that the service has', () => {
  const section = docs.split(/^## /m).find((text) => text.startsWith('Rates and numbers')) ?? '';
  const rows = [...section.matchAll(/^\| (.*) \|$/gm)].slice(1).map(([, row = '']) => row.split(' | ')[2]);
  expect(rows).toEqual(LIMITS);
  expect(UNVERIFIED_SHARE).toBe(10);
});
