import { ownLimits, settingsOf } from '../../shared/config/settings.ts';
import { type Backup, openBackup } from '../../shared/objects/backup.ts';
import type { ObjectContext } from '../../shared/objects/context.ts';
import type { ObjectTables } from '../../shared/objects/migrations.ts';
import { passOn } from '../../shared/objects/pass-on.ts';
import type { Moving } from '../moving/moving.ts';
import { type Ledger, openLedger } from '../object/ledger.ts';
import { EVENTS_OF_COUNTERS, forgetWantsVerified, openOutgoing, type Outgoing } from '../object/outgoing.ts';
import { openSeatClock, type SeatClock } from '../object/seat-clock.ts';
import { type AnnouncedChanges, openAnnounced } from './announced.ts';
import { type BranchStore, openBranchStore } from './branch-store.ts';
import { COPY_TABLES } from './copy-tables.ts';
import { type Copy, openCopy } from './copy.ts';
import { ENDED_LICENSES } from './ended-licenses.ts';
import { MACHINE_INDEXES } from './find-licenses.ts';
import { MACHINE_TOTALS, type MachineTotals, openMachineTotals } from './machine-rows.ts';
import { type Machines, openMachines } from './machines.ts';
import { noteRestore } from './restored-branches.ts';
import { openTrafficTable, type TrafficTable } from './usage.ts';

/** What home stores: its copy of D1, and what it owns. */
export interface HomeStore {
  copy: Copy;
  ledger: Ledger;
  traffic: TrafficTable;
  outgoing: Outgoing;
  announced: AnnouncedChanges;
  machines: Machines;
  machineTotals: MachineTotals;
  seatClock: SeatClock;
  branches: BranchStore;
}

export const openHomeStore = ({ ctx, env, journal }: ObjectContext): HomeStore => {
  const { sql, kv } = ctx.storage;
  const copy = journal.write(() => openCopy(sql, settingsOf(env).gateEpoch, ownLimits(env)));
  const traffic = openTrafficTable(sql);
  const outgoing = openOutgoing(sql);
  const ledger = openLedger(sql, outgoing.kept, (days) => traffic.addPast(days, Date.now()));
  const announced = openAnnounced(kv);
  const branches = openBranchStore(ctx.storage, traffic);
  const machineTotals = openMachineTotals(sql);
  // Another release may have changed machines without counting them.
  if (copy.loadPosition() !== null && machineTotals.hasAny()) machineTotals.pruneBy(0);
  for (const writer of [branches, ledger, announced, machineTotals.writer]) journal.add(writer);
  const machines = openMachines(sql, machineTotals);
  const seatClock = openSeatClock(kv, journal);
  return { copy, traffic, ledger, outgoing, announced, branches, machines, machineTotals, seatClock };
};

/** Tables that the gate owns. Unlike its copy of D1, they can't be rebuilt. */
export const GATE_TABLES: ObjectTables = {
  base: `
    CREATE TABLE counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL, at_ms INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE recent_counters (
      only INTEGER PRIMARY KEY, counters TEXT NOT NULL, calls TEXT NOT NULL DEFAULT '', traffic TEXT NOT NULL DEFAULT ''
    );
    CREATE TABLE outgoing (seq INTEGER PRIMARY KEY, events TEXT NOT NULL);
    CREATE TABLE activations (
      license_id TEXT NOT NULL, fingerprint TEXT NOT NULL, id TEXT NOT NULL,
      name TEXT, platform TEXT, app_version TEXT,
      activated_at_ms INTEGER NOT NULL, last_seen_at_ms INTEGER NOT NULL, counted_at_ms INTEGER NOT NULL,
      lease_until_ms INTEGER, file_until_ms INTEGER, released_at_ms INTEGER,
      live_until_ms INTEGER NOT NULL,
      PRIMARY KEY (license_id, fingerprint)
    ) WITHOUT ROWID;
    CREATE TABLE seat_refusals (license_id TEXT PRIMARY KEY, at_ms INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE seat_changes (
      license_id TEXT NOT NULL, seq INTEGER NOT NULL, at_ms INTEGER NOT NULL, action TEXT NOT NULL, actor TEXT NOT NULL,
      activation_id TEXT NOT NULL, fingerprint TEXT NOT NULL, name TEXT,
      PRIMARY KEY (license_id, seq)
    ) WITHOUT ROWID;
    CREATE TABLE branches (region TEXT PRIMARY KEY, opening INTEGER NOT NULL, state TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE branch_log (revision INTEGER PRIMARY KEY, kind TEXT NOT NULL, ref TEXT NOT NULL);
    CREATE TABLE branch_facts (
      only INTEGER PRIMARY KEY, term INTEGER NOT NULL, openings INTEGER NOT NULL, revision INTEGER NOT NULL
    );
    CREATE TABLE region_traffic (
      date TEXT NOT NULL, opening INTEGER NOT NULL, routes TEXT NOT NULL, PRIMARY KEY (date, opening)
    ) WITHOUT ROWID;`,
  baseVersion: 7,
  steps: [
    // The log of version 0.1 began at its first row.
    "INSERT INTO branch_log SELECT min(revision) - 1, 'all', '' FROM branch_log HAVING count(*) > 0",
    'CREATE INDEX activations_by_id ON activations (license_id, id)',
    MACHINE_TOTALS,
    EVENTS_OF_COUNTERS,
    MACHINE_INDEXES,
    ENDED_LICENSES,
  ],
};

/** Backs up and restores what a gate owns, unless it is moving. */
export const openGateBackup = (object: ObjectContext, moving: Moving): Backup => {
  const { storage } = object.ctx;
  const backup = openBackup(object, {
    tables: GATE_TABLES,
    copies: COPY_TABLES,
    onRestored: () => {
      // A copy of the time when D1 did not have the account: applications call a service before it is restored.
      storage.sql.exec("DELETE FROM facts WHERE NOT EXISTS (SELECT 1 FROM facts WHERE name = 'account')");
      forgetWantsVerified(storage.kv);
      noteRestore(storage, Date.now());
      // Machines may have changed while the backup was read.
      storage.sql.exec('UPDATE machine_totals SET prune_at_ms = 0');
    },
  });
  return async (call) => {
    const later = moving.next();
    if (later) return passOn(later.backup(call));
    if (call.kind === 'begin') moving.reopen();
    return moving.isSettled() ? backup(call) : { refused: 'moving' };
  };
};
