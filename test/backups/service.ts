import { env } from 'cloudflare:workers';
import { vi } from 'vitest';
import { openRecord, requireBucket } from '../../src/backups/bucket.ts';
import { running } from '../../src/backups/state.ts';
import { workOnStores } from '../../src/stores/work.ts';
import { openShop, paid, type Shop } from '../stores/shop.ts';
import { type Customer, type Json, signUp } from '../support/client.ts';
import { accountsD1, firstD1 } from '../support/databases.ts';
import { emptyStorage, makeTables } from '../support/empty-storage.ts';
import { asOperator } from '../support/operator.ts';
import { addEndpoint } from '../support/outbox.ts';
import { newReceiver } from '../support/receiver.ts';

// A service that is lost and comes back.

/** Lets nothing wait before it goes on: the bucket of the tests, unlike R2, is written at any pace. Returns what ends that. */
export const skipPauses = () => {
  const wait = scheduler.wait.bind(scheduler);
  // With a signal, it is a time limit.
  const skipped = (ms: number, options?: SchedulerWaitOptions) => wait(options ? ms : 0, options);
  const pauses = vi.spyOn(scheduler, 'wait').mockImplementation(skipped);
  return () => pauses.mockRestore();
};

export const FINGERPRINT = 'machine-0001';

/** A seller who has something of every kind. */
export const openSeller = async (number: number) => {
  const ada = await signUp();
  await ada.asSession('PUT', '/api/v1/products/editor', { name: 'Editor', terms: { max_activations: 2 } });
  const licenses: Json[] = [];
  for (let i = 0; i < 3; i++)
    licenses.push(
      await ada.createLicense({ product: 'editor', customer_email: `kunde${number}-${i}@example.com` }),
    );
  const [first] = licenses;
  const licenseKey = String(first?.['license_key']);
  await ada.asKey('POST', '/api/v1/licenses/activate', { license_key: licenseKey, fingerprint: FINGERPRINT });
  await ada.asSession('POST', `/api/v1/licenses/${String(licenses[1]?.['id'])}/suspend`, { reason: 'late' });
  const endpoint = await addEndpoint(ada, (await newReceiver()).url);
  return { ada, licenses, licenseKey, endpoint };
};
type Seller = Awaited<ReturnType<typeof openSeller>>;

/** What the seller sees of the account. */
export const pictureOf = async ({ ada, licenseKey, endpoint }: Seller) => {
  const [licenses, dashboard, webhook] = await Promise.all([
    ada.asSession('GET', '/api/v1/licenses?limit=100'),
    ada.asSession('GET', '/api/dashboard'),
    ada.asSession('GET', `/api/webhooks/${endpoint.id}`),
  ]);
  const { body: verdict } = await verify(ada, licenseKey);
  const { usage, licenses: counts } = dashboard.body;
  return {
    licenses: licenses.body.data,
    counts,
    usage: usage.api_usage,
    secret: webhook.body.secret,
    seat: verdict.activation.id,
    valid: verdict.valid,
    verifiedUsage: verdict.api_usage,
  };
};

export const backUp = async () => {
  let { body } = await asOperator('POST', '/operator/backups');
  for (let step = 0; body['status'] === 'running' && step < 50; step++)
    ({ body } = await asOperator('POST', `/operator/backups/${String(body['id'])}/continue`));
  return body;
};

export const restore = async (id: unknown) => {
  for (let step = 0; step < 50; step++) {
    const { status, body } = await asOperator('POST', `/operator/backups/${String(id)}/restore`);
    if (status !== 200 || body['done']) return { status, body };
  }
  throw new Error('The restore has no end.');
};

/** Names the service of new databases, as the first query of a new isolate does. */
const nameService = async () => {
  const id = `svc_${crypto.randomUUID()}`;
  const query = "INSERT INTO database_identity (only, service_id, binding, places) VALUES (1, ?, ?, '[]')";
  for (const [name, d1] of Object.entries({ DB: env.DB, DB2: env.DB2 }))
    await d1.prepare(query).bind(id, name).run();
};

export const emptyBucket = async () => {
  for (const { key } of (await env.BACKUPS.list()).objects) await env.BACKUPS.delete(key);
};

/** Loses everything but the bucket. */
export const loseService = async () => {
  const kept: { key: string; bytes: ArrayBuffer; customMetadata: Record<string, string> }[] = [];
  const { objects } = await env.BACKUPS.list({ include: ['customMetadata'] });
  for (const { key, customMetadata = {} } of objects) {
    const found = await env.BACKUPS.get(key);
    if (found) kept.push({ key, bytes: await found.arrayBuffer(), customMetadata });
  }
  await emptyStorage();
  await makeTables();
  await nameService();
  for (const { key, bytes, customMetadata } of kept) await env.BACKUPS.put(key, bytes, { customMetadata });
};

export const verify = (ada: Customer, licenseKey: string) =>
  ada.asKey('POST', '/api/v1/licenses/verify', { license_key: licenseKey, fingerprint: FINGERPRINT });

const bucket = () => requireBucket(env);

/** Leaves the record of a restore of this service that is at chunk `chunk`. */
export const beRestoring = async (id: string, chunk = 0) => {
  const serviceId = await firstD1.prepare('SELECT service_id FROM database_identity').first('service_id');
  await openRecord(bucket(), 'restoring').write(
    { id, serviceId, chunk, rows: 0, skipped: 0, accounts: 0, startedAtMs: Date.now() },
    null,
  );
};

/** Lets the backup that runs have a chunk that the bucket doesn't have. */
export const loseChunk = async () => {
  const record = running(bucket());
  const found = await record.read();
  if (!found?.value) throw new Error('No backup runs.');
  const position = { phase: 'verify', chunk: 0, found: {} } as const;
  await record.write(
    { ...found.value, position, chunks: ['000000-lost'], counts: { accounts: 1 } },
    found.etag,
  );
};

/** Puts the first chunk of another backup in the place of a backup's first. */
export const exchangeChunk = async (id: unknown, otherId: unknown) => {
  const [to, from] = await Promise.all(
    [id, otherId].map(async (backup) => {
      const { objects } = await env.BACKUPS.list({ prefix: `chunks/${String(backup)}/` });
      return objects[0]?.key ?? '';
    }),
  );
  const other = (await env.BACKUPS.get(from ?? '')) as R2ObjectBody;
  const customMetadata = other.customMetadata ?? {};
  await env.BACKUPS.put(to ?? '', await other.arrayBuffer(), { customMetadata });
};

/** Returns who has done what to which backup, of the entries that concern no account. */
export const entriesOf = async (action: string) => {
  const query = "SELECT actor_kind, target FROM audit_log WHERE account_id = 'operator' AND action = ?";
  return (await env.DB.prepare(query).bind(action).all()).results;
};

/** What is metered of an account, and what it has. */
export const metersOf = ({ accountId }: Customer) =>
  accountsD1
    .prepare(
      `SELECT license_totals.bytes AS metered, stored_bytes.bytes AS stored, licenses FROM license_totals
       JOIN stored_bytes USING (account_id) WHERE account_id = ?`,
    )
    .bind(accountId)
    .first<{ metered: number; stored: number; licenses: number }>();

/** A shop with a purchase that the release before, which wrote no ids without an offer, has left unmapped. */
export const openOldShop = async () => {
  const shop = await openShop();
  await shop.notify(paid('1'));
  await accountsD1.prepare("DELETE FROM purchase_things WHERE thing LIKE 'missing-offer/%'").run();
  return shop;
};

/** Saves the offer that is missing, and returns the purchases after the work that follows. */
export const saveOffer = async ({ ada, offer, purchases }: Shop) => {
  await offer('pro', { grant: 'perpetual' });
  for (let steps = 0; steps < 4; steps++) await workOnStores(env, ada.accountId);
  return purchases();
};
