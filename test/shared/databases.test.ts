import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import { accountDatabases } from '../../src/db/client.ts';
import { chooseDatabase, parseDatabases } from '../../src/shared/config/databases.ts';
import { firstIdAt } from '../../src/shared/text/ids.ts';

const idAt = (time: string) => `${firstIdAt('acct', Date.parse(time))}0123456789ab`;

test.for([
  { databases: 'DB', at: '2099-01-01T00:00:00Z', lives: 'DB' },
  { databases: 'DB, DB2@2027-03-01', at: '2027-02-28T23:59:59.999Z', lives: 'DB' },
  { databases: 'DB, DB2@2027-03-01', at: '2027-03-01T00:00:00.000Z', lives: 'DB2' },
  { databases: 'DB,DB2@2027-03-01,DB3@2028-01-01', at: '2027-12-31T23:59:59.999Z', lives: 'DB2' },
  { databases: 'DB,DB2@2027-03-01,DB3@2028-01-01', at: '2028-01-01T00:00:00.000Z', lives: 'DB3' },
])('with DATABASES = "$databases", an account created at $at is stored in $lives', (row) => {
  expect(chooseDatabase(parseDatabases(row.databases), idAt(row.at)).binding).toBe(row.lives);
});

test.for([
  { databases: undefined, says: 'DATABASES is missing' },
  { databases: '', says: 'DATABASES is missing' },
  { databases: 'DB,', says: 'a list of D1 bindings' },
  { databases: 'DB DB2@2027-03-01', says: 'a list of D1 bindings' },
  { databases: 'DB, DB2@2027-02-29', says: 'a list of D1 bindings' },
  { databases: 'DB, DB2@2027-13-01', says: 'a list of D1 bindings' },
  { databases: 'DB@2027-03-01', says: 'must not have a date for its first entry, DB' },
  { databases: 'DB, DB2', says: 'a date for DB2' },
  { databases: 'DB, DB2@1970-01-01', says: 'a date for DB2' },
  { databases: 'DB, DB2@2028-01-01, DB3@2027-03-01', says: 'a date for DB3' },
  { databases: 'DB, DB2@2028-01-01, DB3@2028-01-01', says: 'a date for DB3' },
  { databases: 'DB, DB@2027-03-01', says: 'names DB twice' },
  { databases: 'DB, WEBHOOKS@2027-03-01', says: 'names WEBHOOKS, but' },
  { databases: 'DB, GONE@2027-03-01', says: 'names GONE, but' },
])('DATABASES = "$databases" is invalid', ({ databases, says }) => {
  expect(() => accountDatabases({ ...env, DATABASES: databases as string })).toThrow(says);
});
