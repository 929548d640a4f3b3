import { runInDurableObject } from 'cloudflare:test';
import { exports } from 'cloudflare:workers';
import { expect, test, vi } from 'vitest';
import { AccountGate } from '../../src/gate/home/account-gate.ts';
import { GATE_TABLES } from '../../src/gate/home/store.ts';
import { readBackup } from '../../src/operators/backup.ts';
import { LEASE_MS } from '../../src/shared/rules/regions.ts';
import { OUTBOX_TABLES } from '../../src/webhooks/tables.ts';
import { useOperator } from '../support/backup.ts';
import { type Customer, freshAddress, type Json, ORIGIN, signUp, textOf } from '../support/client.ts';
import { accountsD1, ctxOf } from '../support/databases.ts';
import { useFakeClock } from '../support/fake-clock.ts';
import { evict, gate, readGate, statistics } from '../support/gate.ts';
import { arrive, move } from '../support/moving.ts';
import { asOperator, OPERATOR_TOKEN } from '../support/operator.ts';
import {
  addEndpoint,
  evictOutbox,
  outbox,
  readEvents,
  readOutbox,
  runOutboxAlarm,
} from '../support/outbox.ts';
import { waitUntil } from '../support/wait-until.ts';

useOperator();

const send = (method: string, path: string, body?: string) =>
  exports.default.fetch(
    new Request(`${ORIGIN}${path}`, {
      method,
      headers: { authorization: `Bearer ${OPERATOR_TOKEN}`, 'cf-connecting-ip': freshAddress() },
      ...(body !== undefined && { body }),
    }),
  );
const backUp = async ({ accountId }: Customer) => {
  const response = await send('GET', `/operator/backup/${accountId}`);
  expect(response.headers.get('content-type')).toBe('application/x-ndjson');
  return textOf(response);
};
const restore = async ({ accountId }: Customer, backup: string, query = '') => {
  const response = await send('POST', `/operator/backup/${accountId}${query}`, backup);
  return { status: response.status, body: (await response.json()) as Json };
};

const auditedActions = async ({ accountId }: Customer) => {
  const { results } = await accountsD1
    .prepare(`SELECT action FROM audit_log WHERE account_id = ? AND actor_kind = 'operator' ORDER BY id`)
    .bind(accountId)
    .all();
  return results.map(({ action }) => action);
};

/** Deletes everything that both objects have stored. */
const wipe = async ({ accountId }: Customer) => {
  for (const object of [gate(accountId), outbox(accountId)])
    await runInDurableObject(object as DurableObjectStub, async (_instance, { storage }) => {
      await storage.deleteAll();
    });
  await evict(accountId);
  await evictOutbox(accountId);
};

/** A restored gate waits with changes for branches that it may not know. */
const letLeasesEnd = () => useFakeClock(Date.now() + LEASE_MS);

const openAccount = async () => {
  const ada = await signUp();
  await ada.asSession('PUT', '/api/v1/products/orrery', { terms: { max_activations: 2 } });
  const license = await ada.createLicense({ product: 'orrery' });
  const activate = (fingerprint: string) =>
    ada.asKey('POST', '/api/v1/licenses/activate', { license_key: license.license_key, fingerprint });
  const endpoint = await addEndpoint(ada, 'http://127.0.0.1:9/nobody');
  for (const fingerprint of ['machine-0001', 'machine-0002'])
    expect((await activate(fingerprint)).body.valid).toBe(true);
  const state = async () => {
    const { body } = await ada.asSession('GET', `/api/v1/licenses/${license.id}/activations`);
    const { apiUsage, days } = await statistics(ada.accountId);
    return {
      activations: body.data,
      usage: { apiUsage, days },
      secret: (await endpoint.read()).secret,
      deliveries: (await endpoint.deliveries()).map(({ id, event, status }) => [id, event, status]),
    };
  };
  await waitUntil(endpoint.deliveries, ({ length }) => length >= 2);
  return { ada, activate, state };
};

test('a backup brings back activations, counts, endpoints and pending deliveries of objects that were wiped', async () => {
  const { ada, activate, state } = await openAccount();
  const before = await state();
  expect(before).toMatchObject({ activations: [{}, {}], usage: { apiUsage: 2 } });
  const backup = await backUp(ada);
  expect(JSON.parse(backup.trim().split('\n').at(-1) ?? '')).toMatchObject({ type: 'end' });

  await wipe(ada);
  expect((await ada.asSession('GET', '/api/webhooks')).body.data).toEqual([]);
  expect((await restore(ada, backup)).status).toBe(200);
  expect(await state()).toEqual(before);
  // The same backup again changes nothing.
  expect((await restore(ada, backup)).status).toBe(200);
  expect(await state()).toEqual(before);
  letLeasesEnd();
  expect((await activate('machine-0003')).body).toMatchObject({ code: 'no_seat', api_usage: 3 });

  expect(await auditedActions(ada)).toEqual(['account.backup', 'account.recover', 'account.recover']);
});

test('a backup brings back a gate that was wiped after its account had moved', async () => {
  const { ada, activate, state } = await openAccount();
  await move(ada.accountId, 'oc');
  const before = await state();
  const backup = await backUp(ada);

  await wipe(ada);
  expect((await restore(ada, backup)).status).toBe(200);
  expect(await state()).toEqual(before);
  letLeasesEnd();
  expect((await activate('machine-0003')).body).toMatchObject({ code: 'no_seat', api_usage: 3 });
});

test('an account that is moving to another region can’t be backed up or restored before it has arrived', async () => {
  const { ada, state } = await openAccount();
  const before = await state();
  const backup = await backUp(ada);
  const receive = vi.spyOn(AccountGate.prototype, 'receive').mockRejectedValue(new Error('cut off'));
  await gate(ada.accountId).startMove('oc');
  const path = `/operator/backup/${ada.accountId}`;
  for (const response of [await send('GET', path), await send('POST', `${path}?replace=true`, backup)]) {
    const { error } = (await response.json()) as Json;
    expect([response.status, error.code, error.message]).toEqual([
      409,
      'invalid_transition',
      'The account is moving to another region. Try again once it has arrived.',
    ]);
  }
  receive.mockRestore();

  await arrive(ada.accountId, 2);
  await backUp(ada);
  expect((await restore(ada, backup, '?replace=true')).status).toBe(200);
  expect(await state()).toEqual(before);
  expect(await auditedActions(ada)).toEqual(['account.backup', 'account.backup', 'account.recover']);
});

test('a backup replaces data only if it is asked to, and changes nothing if it is cut off', async () => {
  const { ada, activate, state } = await openAccount();
  const backup = await backUp(ada);
  await activate('machine-0001');
  const before = await state();

  expect(await restore(ada, backup)).toMatchObject({
    status: 409,
    body: { error: { code: 'invalid_transition' } },
  });
  const lines = backup.trim().split('\n');
  for (const damaged of [lines.slice(0, -1), lines.toSpliced(2, 1), lines.slice(1), ['not a backup']])
    expect((await restore(ada, damaged.join('\n'), '?replace=true')).status).toBe(400);
  const other = await signUp();
  expect((await restore(other, backup)).status).toBe(400);
  const recorded = `SELECT count(*) AS n FROM audit_log WHERE action = 'account.recover' AND account_id = ?`;
  expect(await accountsD1.prepare(recorded).bind(ada.accountId).first('n')).toBe(0);
  expect(await state()).toEqual(before);

  expect((await restore(ada, backup, '?replace=true')).status).toBe(200);
  expect((await state()).usage.apiUsage).toBe(before.usage.apiUsage - 1);
  expect((await asOperator('GET', '/operator/backup/acct_00000000000000000000')).status).toBe(404);
});

const withoutColumn = (line: string, table: string, column: string): string => {
  const part = JSON.parse(line) as { table?: string; columns: string[]; rows: unknown[][] };
  if (part.table !== table) return line;
  const isKept = (_: unknown, i: number) => part.columns[i] !== column;
  const [columns, rows] = [part.columns.filter(isKept), part.rows.map((row) => row.filter(isKept))];
  return JSON.stringify({ ...part, columns, rows });
};

test('a backup of an earlier release gets the tables of this one', async () => {
  const { ada, activate, state } = await openAccount();
  const before = await state();
  const [header = '', ...lines] = (await backUp(ada)).trim().split('\n');
  const steps = { gate: GATE_TABLES.baseVersion, outbox: OUTBOX_TABLES.baseVersion };
  // Tables and columns that came later.
  const kept = lines
    .filter((line) => !line.includes('"erased_events"'))
    .map((line) => withoutColumn(line, 'recent_counters', 'events'))
    .map((line) => withoutColumn(line, 'arrivals', 'is_for_all'))
    .slice(0, -1);
  const end = { type: 'end', lines: kept.length };
  const earlier = [JSON.stringify({ ...JSON.parse(header), steps }), ...kept, JSON.stringify(end)].join('\n');

  await wipe(ada);
  expect((await restore(ada, earlier)).status).toBe(200);
  expect(await state()).toEqual(before);
  letLeasesEnd();
  expect((await activate('machine-0003')).body).toMatchObject({ code: 'no_seat' });
  expect(await readOutbox(ada.accountId, 'SELECT * FROM erased_events')).toEqual([]);
  const index = `SELECT name FROM sqlite_master WHERE name = 'activations_by_id'`;
  expect(await readGate(ada.accountId, index)).toEqual([{ name: 'activations_by_id' }]);

  const later = earlier.replace(`"gate":${steps.gate}`, '"gate":1000');
  expect(await restore(ada, later, '?replace=true')).toMatchObject({ status: 409 });
});

const wantsVerified = ({ accountId }: Customer) =>
  runInDurableObject(gate(accountId), (_gate, { storage }) => storage.kv.get<boolean>('wants_verified'));

test.for(['added', 'deleted'] as const)(
  'a restored gate creates license.verified if a restored endpoint wants it, also if one was %s during the backup',
  async (change) => {
    const ada = await signUp();
    const { license_key: licenseKey } = await ada.createLicense();
    const add = () => addEndpoint(ada, 'http://127.0.0.1:9/nobody', { events: ['license.verified'] });
    const { path } = await add();
    if (change === 'added') await ada.asSession('DELETE', path);
    const lines: string[] = [];
    let isChanged = false;
    for await (const [line] of readBackup(ctxOf(ada.accountId))) {
      lines.push(JSON.stringify(line));
      // What one object owns was read.
      if (line.type !== 'values' || isChanged) continue;
      isChanged = true;
      if (change === 'added') await add();
      else await ada.asSession('DELETE', path);
    }
    expect((await restore(ada, lines.join('\n'), '?replace=true')).status).toBe(200);
    letLeasesEnd();
    await runOutboxAlarm(ada.accountId);

    const { length: endpoints } = (await ada.asSession('GET', '/api/webhooks')).body.data;
    expect(await wantsVerified(ada)).toBe(endpoints > 0);
    await ada.verify(licenseKey);
    await waitUntil(
      () => readEvents(ada.accountId),
      (events) => events.filter(({ name }) => name === 'license.verified').length === endpoints,
    );
  },
);
