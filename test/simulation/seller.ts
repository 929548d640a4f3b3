import { sql } from 'drizzle-orm';
import type { FeedChange } from '../../src/gate/feed/write.ts';
import type { CountedCall } from '../../src/gate/rules/usage.ts';
import { SYSTEM } from '../../src/shared/rules/audit.ts';
import type { Region } from '../../src/shared/rules/regions.ts';
import { ACCOUNT, FIRST_DATE, NODES, presentKey, PRODUCT, REGIONS } from './account.ts';
import type { Ask, Callers } from './callers.ts';
import type { AccountPlans } from './plans.ts';
import type { Promises } from './promises/promises.ts';
import { GONE, KNOWN, textOf } from './promises/versions.ts';
import { HOME, type World } from './world.ts';

/** The seller: each change is made by the Worker near home, and waits until every verify sees it. */
export const openSeller = (world: World, promises: Promises, callers: Callers, plans: AccountPlans) => {
  const { versions, counts, events, seats } = promises;
  const { licenseKeys, activationIds } = callers;
  let count = 0;

  /** Lets callers everywhere look at a change as soon as it is answered. */
  const look = (ask: Omit<Ask, 'region'>) => {
    for (const region of REGIONS) void callers.ask({ ...ask, region });
  };

  /** Commits a statement with an event. Returns the value of the changed row, or null if there is none or the change failed. */
  const commit = async (
    name: string,
    statement: string,
    changes: [FeedChange, ...FeedChange[]],
    counted?: CountedCall,
  ): Promise<unknown> => {
    const isolate = world.isolateIn(HOME);
    const { shipped, env } = isolate;
    const db = shipped.databaseOf(env, ACCOUNT);
    const key = counted ? presentKey(0, name) : null;
    const ctx = { env, db, accountId: ACCOUNT, key, actor: SYSTEM, ip: null };
    const event = shipped.newEvent('webhook.test', 0, { customer_email: 'ada@example.com' });
    const answer = await world.attempt(name, isolate, () => {
      const change = db.all<{ value: unknown }>(sql.raw(statement));
      return shipped.commit(ctx, [change], [...changes, shipped.eventChange(event)], counted && { counted });
    });
    if (!answer) return null;
    events.changed(event.id);
    return answer[0][0]?.value ?? null;
  };

  /** Makes the next version of something. */
  const advance = async (of: string, change: FeedChange, statement: string, ask: Omit<Ask, 'region'>) => {
    versions.begins(of, versions.possible(of) + 1);
    const value = await commit(`change-${++count} of ${of}`, statement, [change]);
    if (value === null) return;
    versions.tells(of, Number(value));
    look(ask);
  };

  return {
    /** Suspends or reinstates a license. */
    toggle: (license: number) =>
      advance(
        `license ${license}`,
        { kind: 'license', ref: `lic_${license}` },
        `UPDATE licenses SET expires_at = date(expires_at, '+1 day'), status = iif(status = 'active', 'suspended', 'active')
         WHERE id = 'lic_${license}' RETURNING julianday(expires_at) - julianday('${FIRST_DATE}') AS value`,
        { license },
      ),

    /** Changes the terms of the product. */
    setTerms: () =>
      advance(
        'the product',
        { kind: 'product', ref: PRODUCT },
        `UPDATE products SET terms = json_set(terms, '$.entitlements.version', terms ->> '$.entitlements.version' + 1)
         RETURNING terms ->> '$.entitlements.version' AS value`,
        { license: NODES, machine: 'm0' },
      ),

    changePlan: () => {
      const set = plans.next(Math.floor(world.time.nowMs()));
      return advance(
        'account',
        { kind: 'account', ref: ACCOUNT },
        `UPDATE accounts SET ${set}, name = name + 1 RETURNING name AS value`,
        {},
      );
    },

    deleteKey: (key: number) =>
      advance(
        `key ${key}`,
        { kind: 'key', ref: `key_${key}` },
        `UPDATE api_keys SET deleted_at = 1 WHERE id = 'key_${key}' RETURNING 1 AS value`,
        { key },
      ),

    /** Gives a license another license key. */
    rotate: async (license: number) => {
      const before = licenseKeys[license]?.at(-1) ?? '';
      const after = `${before}-${++count}`;
      versions.begins(textOf(before), GONE);
      versions.begins(textOf(after), KNOWN);
      const value = await commit(
        `change-${count} of ${before}`,
        `UPDATE licenses SET license_key = '${after}' WHERE license_key = '${before}' RETURNING 1 AS value`,
        [
          { kind: 'license', ref: `lic_${license}` },
          { kind: 'erased', ref: before },
        ],
      );
      if (value === null) return;
      versions.tells(textOf(before), GONE);
      versions.tells(textOf(after), KNOWN);
      licenseKeys[license]?.push(after);
      look({ license, keysAgo: 1 });
    },

    /** Creates a license by a call with an API key, which counts. */
    create: async () => {
      const license = licenseKeys.length;
      const licenseKey = `LATER-${license}`;
      licenseKeys.push([licenseKey]);
      versions.begins(textOf(licenseKey), KNOWN);
      const name = `create-${license}`;
      counts.creates.began(name);
      const value = await commit(
        name,
        `INSERT INTO licenses (id, account_id, license_key, status, customer_email, metadata, expires_at, created_at, updated_at)
         VALUES ('lic_${license}', '${ACCOUNT}', '${licenseKey}', 'active', 'ada@example.com', '{}', '${FIRST_DATE}', 0, 0)
         RETURNING 1 AS value`,
        [{ kind: 'license', ref: `lic_${license}` }],
        'create',
      );
      if (value === null) return;
      versions.tells(textOf(licenseKey), KNOWN);
      counts.creates.answered(name, true);
      look({ license });
    },

    /** Releases the seat of a machine. */
    release: async (license: number, machine: string) => {
      const id = activationIds.get(`${license} ${machine}`);
      const licenseKey = licenseKeys[license]?.at(-1);
      if (id === undefined || licenseKey === undefined) return;
      const begunMs = world.time.nowMs();
      seats.releases(license, machine, begunMs);
      const isolate = world.isolateIn(HOME);
      const result = await world.attempt(`release-${++count} of ${machine}`, isolate, async () =>
        isolate.shipped.gateOf(isolate.env, ACCOUNT).releaseActivation(licenseKey, id, true),
      );
      if (result !== 'released') return;
      seats.released(license, machine, begunMs, world.time.nowMs());
      look({ license, machine });
    },

    /** Moves home to another region. */
    move: async (region: Region) => {
      const isolate = world.isolateIn(HOME);
      await world.attempt(`move-${++count} to ${region}`, isolate, async () =>
        isolate.shipped.gateOf(isolate.env, ACCOUNT).startMove(region),
      );
    },
  };
};
