import type { ObjectTables } from '../../shared/objects/migrations.ts';

/** The tables of a branch: its copy, and what it has counted. */
export const BRANCH_TABLES: ObjectTables = {
  base: `
    CREATE TABLE facts (only INTEGER PRIMARY KEY, value TEXT NOT NULL);
    CREATE TABLE copies (
      kind TEXT NOT NULL, ref TEXT NOT NULL, as_of INTEGER NOT NULL, product TEXT, value TEXT NOT NULL,
      PRIMARY KEY (kind, ref)
    ) WITHOUT ROWID;
    CREATE TABLE escrows (period_start_ms INTEGER PRIMARY KEY, granted INTEGER NOT NULL, returned INTEGER NOT NULL);
    CREATE TABLE counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL, at_ms INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE recent_counters (
      only INTEGER PRIMARY KEY, counters TEXT NOT NULL, calls TEXT NOT NULL, traffic TEXT NOT NULL DEFAULT ''
    );
    CREATE TABLE outgoing (seq INTEGER PRIMARY KEY, events TEXT NOT NULL);`,
  baseVersion: 2,
  steps: [],
};
