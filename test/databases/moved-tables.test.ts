import { is } from 'drizzle-orm';
import { getTableConfig, SQLiteTable } from 'drizzle-orm/sqlite-core';
import { expect, test } from 'vitest';
import { MOVED_TABLES, STAYING } from '../../src/databases/moved-tables.ts';
import * as schema from '../../src/db/schema.ts';

const TABLES = Object.values<unknown>(schema).flatMap((table) =>
  is(table, SQLiteTable) ? [getTableConfig(table)] : [],
);

test('every table with rows of an account moves, or says why it stays', () => {
  const owned = TABLES.filter(({ name, columns }) =>
    columns.some((column) => column.name === 'account_id' && name !== 'expiry_pass'),
  ).map(({ name }) => name);
  const known = [...MOVED_TABLES.map(({ name }) => name), ...Object.keys(STAYING)];
  expect(known.toSorted()).toEqual(['accounts', ...owned].toSorted());
});

test('no table that moves has numbers of its own database, but for those that are given anew', () => {
  const numbered = TABLES.filter(({ columns }) =>
    columns.some((column) => column.primary && column.getSQLType() === 'integer'),
  ).map(({ name }) => name);
  const copied = MOVED_TABLES.filter(
    ({ name, columns, key }) => numbered.includes(name) && key.every((column) => columns.includes(column)),
  );
  expect(copied.map(({ name }) => name)).toEqual([]);
});
