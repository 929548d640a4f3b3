// What a service of v0.1.0 has stored, and what it answered and sent afterwards, recorded with the code of that tag.
import { applyD1Migrations, type D1Migration, evictDurableObject, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import carryOverSql from '../../scripts/carry-over-0.1.sql?raw';
import type { Json } from '../support/client.ts';
import packed from './v0.1.0.json.gz?inline';

export const DATABASES = ['DB', 'DB2'] as const;

interface StoredObject {
  binding: 'GATE' | 'OUTBOX' | 'BRANCH';
  name: string;
  /** Creates the tables and inserts their rows. */
  statements: string[];
  values: [name: string, value: unknown][];
  alarmMs: number | null;
}

export interface Recorded {
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: unknown;
  status: number;
  answer: Json;
}

export interface Seller {
  accountId: string;
  email: string;
  password: string;
  session: string;
  endpointIds: string[];
}

export interface Release {
  migrations: D1Migration[];
  /** The clock stands still at this time. It is in the future, so that no alarm runs by itself. */
  nowMs: number;
  databases: Record<(typeof DATABASES)[number], string[]>;
  objects: StoredObject[];
  sellers: [Seller, Seller];
  /** Tokens of licenses. */
  tokens: string[];
  /** A secret that the last endpoint had before a rotation, less than a day ago. */
  earlierSecret: string;
  /** Calls to the release after it had stored this, in this order. */
  calls: Recorded[];
  /** Ids of the stored events that it sent afterwards, by URL. */
  sent: Record<string, string[]>;
  /** The deliveries of stored events in the end, by endpoint. */
  deliveries: Record<string, Json[]>;
}

/** Reads the recording. Its receivers have the given URLs. */
export const readRelease = async (receiverUrls: string[] = []): Promise<Release> => {
  const { body } = await fetch(packed);
  if (!body) throw new Error('The recording is empty.');
  const text = await new Response(body.pipeThrough(new DecompressionStream('gzip'))).text();
  return JSON.parse(
    receiverUrls.reduce((json, url, i) => json.replaceAll(`http://127.0.0.1:1/receiver-${i + 1}`, url), text),
  ) as Release;
};

const runAll = (d1: D1Database, statements: string[]) =>
  d1.batch(statements.map((statement) => d1.prepare(statement)));

/** Does with a database of v0.1.0 what docs/running.md says. */
export const carryOver = (d1: D1Database) => runAll(d1, carryOverSql.split('--> statement-breakpoint'));

/** Fills a database as v0.1.0 left it. */
export const loadDatabase = async ({ migrations, databases }: Release, name: (typeof DATABASES)[number]) => {
  await applyD1Migrations(env[name], migrations);
  await runAll(env[name], databases[name]);
};

const stubOf = ({ binding, name }: Pick<StoredObject, 'binding' | 'name'>): DurableObjectStub =>
  env[binding].getByName(name);

/** Fills an object as v0.1.0 left it. It starts with the next call. */
export const loadObject = async (object: StoredObject) => {
  await runInDurableObject(stubOf(object), async (_instance, { storage }) => {
    await storage.deleteAll();
    for (const statement of object.statements) storage.sql.exec(statement);
    for (const [name, value] of object.values) storage.kv.put(name, value);
    if (object.alarmMs !== null) await storage.setAlarm(object.alarmMs);
  });
  await evictDurableObject(stubOf(object));
};

/** A statement without comments, spaces, and quotes around names. */
export const normalizeSql = (sql: string) =>
  sql
    .replaceAll(/--.*/g, '')
    .replaceAll(/[`"]/g, '')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ ?([(),]) ?/g, '$1');
