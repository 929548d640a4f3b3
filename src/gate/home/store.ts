import { settingsOf } from '../../shared/config/settings.ts';
import type { ObjectContext } from '../../shared/objects/context.ts';
import { type Ledger, openLedger } from '../object/ledger.ts';
import { openOutgoing, type Outgoing } from '../object/outgoing.ts';
import { openSeatClock, type SeatClock } from '../object/seat-clock.ts';
import { type AnnouncedChanges, openAnnounced } from './announced.ts';
import { type BranchStore, openBranchStore } from './branch-store.ts';
import { type Copy, openCopy } from './copy.ts';
import { type Machines, openMachines } from './machines.ts';
import { openTrafficTable, type TrafficTable } from './traffic-table.ts';

/** What home stores: its copy of D1, and what it owns. */
export interface HomeStore {
  copy: Copy;
  ledger: Ledger;
  traffic: TrafficTable;
  outgoing: Outgoing;
  announced: AnnouncedChanges;
  machines: Machines;
  seatClock: SeatClock;
  branches: BranchStore;
}

export const openHomeStore = ({ ctx, env, journal }: ObjectContext): HomeStore => {
  const { sql, kv } = ctx.storage;
  const copy = openCopy(sql, settingsOf(env).gateEpoch);
  const traffic = openTrafficTable(sql);
  const ledger = openLedger(sql, (days) => traffic.addPast(days, Date.now()));
  const outgoing = openOutgoing(sql);
  const announced = openAnnounced(kv);
  const branches = openBranchStore(sql, traffic);
  for (const writer of [branches, ledger, announced]) journal.add(writer);
  const machines = openMachines(sql);
  return { copy, traffic, ledger, outgoing, announced, branches, machines, seatClock: openSeatClock(kv) };
};
