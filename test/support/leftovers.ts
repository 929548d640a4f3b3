import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { REGIONS } from '../../src/shared/rules/regions.ts';
import { accountsD1, firstD1 } from './databases.ts';
import { gateIn } from './moving.ts';
import { outbox } from './outbox.ts';
import { branch } from './regions.ts';

// Looks for texts everywhere: in all tables of all databases, and in all tables and values of an account's objects.

/** The name of a table, or of an object's value, after its database or object. */
export type Place = string;

const hasAny = (value: unknown, texts: string[]) => {
  const json = JSON.stringify(value).toLowerCase();
  return texts.some((text) => json.includes(text.toLowerCase()));
};

/** Returns the tables in which any row of a database contains one of the texts. Search indexes have no text. */
export const findInD1 = async (d1: D1Database, texts: string[]): Promise<Place[]> => {
  const { results } = await d1
    .prepare(
      `SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table'
       AND name NOT LIKE 'sqlite_%' AND name NOT LIKE '\\_cf_%' ESCAPE '\\' ORDER BY name`,
    )
    .all<{ name: string }>();
  const found: string[] = [];
  for (const { name } of results)
    if (hasAny((await d1.prepare(`SELECT * FROM "${name}"`).all()).results, texts)) found.push(name);
  return found;
};

/** Returns the contents of an object by table and by value, without its name. */
export const contentOf = (stub: DurableObjectStub): Promise<Map<Place, unknown>> =>
  runInDurableObject(stub, (_instance, { storage }) => {
    const names = storage.sql
      .exec<{ name: string }>(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_cf_%' ESCAPE '\\'",
      )
      .toArray();
    const tables = names
      .filter(({ name }) => name !== 'storage_version')
      .map(({ name }): [Place, unknown[]] => [name, storage.sql.exec(`SELECT * FROM "${name}"`).toArray()]);
    const values = [...storage.kv.list()].filter(([name]) => name !== 'name');
    return new Map<Place, unknown>([...tables.filter(([, rows]) => rows.length > 0), ...values]);
  });

const isNamespace = (binding: unknown) =>
  Object.prototype.toString.call(binding) === Object.prototype.toString.call(env.GATE);

/** A class of objects that is added later has to be looked for, too. */
const NAMESPACES = ['BRANCH', 'GATE', 'OUTBOX'];

const refuseUnknownNamespaces = () => {
  const names = Object.entries(env).flatMap(([name, binding]) => (isNamespace(binding) ? [name] : []));
  const unknown = names.filter((name) => !NAMESPACES.includes(name));
  if (unknown.length > 0) throw new Error(`findLeftovers doesn't look into objects of ${unknown.join()}.`);
};

/** All objects of an account, also where it has been before. */
const objectsOf = (accountId: string, epochs: number): [name: string, stub: DurableObjectStub][] => [
  ...Array.from({ length: epochs }, (_, i): [string, DurableObjectStub] => [
    `gate ${i + 1}`,
    gateIn(accountId, i + 1),
  ]),
  ...REGIONS.map((region): [string, DurableObjectStub] => [`branch ${region}`, branch(accountId, region)]),
  ['outbox', outbox(accountId)],
];

/** Returns all places in which one of the texts is left. */
export const findLeftovers = async (accountId: string, texts: string[], epochs = 2): Promise<Place[]> => {
  refuseUnknownNamespaces();
  const found = [
    ...(await findInD1(firstD1, texts)).map((table) => `first D1: ${table}`),
    ...(await findInD1(accountsD1, texts)).map((table) => `D1: ${table}`),
  ];
  for (const [name, stub] of objectsOf(accountId, epochs))
    for (const [place, value] of await contentOf(stub))
      if (hasAny(value, texts)) found.push(`${name}: ${place}`);
  return found.toSorted();
};
