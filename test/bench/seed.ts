// Creates the data of a run: a service of ordinary size and a service with a big account, in separate databases.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Account, createLicenses, openAccount, subscribe } from './accounts.ts';
import type { Bundle } from './build.ts';
import type { Probe } from './fixtures/probe.ts';
import { type Inserted, insertLicenses } from './licenses.ts';
import { valueAt, type Values } from './load/plan.ts';
import { migrate, type Place, type Running, start } from './service.ts';

export interface Licensed extends Account {
  licenses: Values;
}

export interface Grown extends Licensed {
  emails: Values;
  rows: number;
  insertSeconds: number;
  /** Time that the gate took to load everything. */
  loadSeconds: number;
}

export const probe = async (service: Running, accountId: string): Promise<Probe> => {
  const { status, body, text } = await service.get(`/probe/${accountId}`);
  if (status !== 200) throw new Error(`The probe responded ${status}: ${text}`);
  return body as Probe;
};

/** Lets the outbox delete its events as if their retention time were over. */
export const forgetEvents = async ({ origin }: Running, accountId: string) => {
  const { status } = await fetch(`${origin}/probe/${accountId}`, { method: 'DELETE' });
  if (status !== 200) throw new Error(`The probe responded ${status}.`);
};

/** Starts the background load with a verify and waits until it is complete. */
const untilLoaded = async (service: Running, account: Licensed): Promise<number> => {
  const startMs = performance.now();
  const verdict = await service.post(
    '/api/v1/licenses/verify',
    { license_key: valueAt(account.licenses, account.licenses.count - 1) },
    { 'x-api-key': valueAt(account.apiKeys, 0) },
  );
  if (!verdict.text.includes('"valid":true')) throw new Error(`The first verify answered ${verdict.text}`);
  while (!(await probe(service, account.accountId)).loaded) await delay(50);
  return (performance.now() - startMs) / 1_000;
};

const toGrown = (account: Account, inserted: Inserted): Omit<Grown, 'loadSeconds'> => ({
  ...account,
  licenses: inserted.active,
  emails: inserted.emails,
  rows: inserted.rows,
  insertSeconds: inserted.seconds,
});

interface Sizes {
  licenses: number;
  keys: number;
}

/** Deletes the storage of all gates. They then load their copies from D1, where licenses were inserted directly. */
const wipeGates = ({ name, folder }: Place) =>
  rmSync(join(folder, 'data/do', `${name}-AccountGate`), { recursive: true });

/** Inserts an account's licenses directly into D1 and waits until its gate has loaded them. */
const grow = async (bundle: Bundle, place: Place, service: Running, sizes: Sizes, url: string) => {
  const account = await openAccount(service, 'grown@example.com', sizes.keys);
  await subscribe(service, account, url);
  const grown = toGrown(
    account,
    await insertLicenses(service.runtime.miniflare, account.accountId, sizes.licenses),
  );
  await service.stop();
  wipeGates(place);
  const again = await start(bundle, place);
  const loadSeconds = await untilLoaded(again, grown);
  return { service: again, account: { ...grown, loadSeconds } };
};

/** Enough API keys for the full rate of the service, because each key has a rate limit. */
const MANY_KEYS = 16;
const FEW_LICENSES = 1_000;

export const seedSmall = async (bundle: Bundle, place: Place, url: string) => {
  const first = await start(bundle, place);
  await migrate(first.runtime);
  const { service, account: single } = await grow(
    bundle,
    place,
    first,
    { licenses: FEW_LICENSES, keys: 1 },
    url,
  );
  const open = async (email: string): Promise<Licensed> => {
    const account = await openAccount(service, email, MANY_KEYS);
    return { ...account, licenses: await createLicenses(service, account, FEW_LICENSES) };
  };
  const unsubscribed = await open('unsubscribed@example.com');
  const busy = await open('busy@example.com');
  await subscribe(service, busy, url);
  await service.stop();
  return { single, busy, unsubscribed };
};

export const seedBig = async (bundle: Bundle, place: Place, url: string, sizes: Sizes) => {
  const first = await start(bundle, place);
  await migrate(first.runtime);
  const { service, account } = await grow(bundle, place, first, sizes, url);
  await service.stop();
  return account;
};

export type Small = Awaited<ReturnType<typeof seedSmall>>;
