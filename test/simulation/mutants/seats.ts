import { FLOAT, NODES } from '../account.ts';
import { HOME } from '../world.ts';
import { crash, edit, inOrder, inOrderFromCold, pass, type Mutants, verify } from './mutant.ts';

export const SEATS: Mutants = {
  'a released seat does not wait for branches': {
    edits: [
      edit('home/calls.ts', "name === 'activate' || name === 'deactivate'", "name === 'activate'"),
      edit('home/calls.ts', ' || branches.revision() !== revision', ''),
    ],
    schedule: inOrder([
      { does: 'seat', call: 'deactivate', region: HOME, license: NODES, machine: 'm0' },
      pass(60),
      { does: 'verify', region: 'oc', license: NODES, machine: 'm0' },
      pass(2_000),
    ]),
  },
  'branches are not told of a released seat': {
    edits: [
      edit(
        'home/seats.ts',
        'if (leaseSeconds !== null || (isTaken && maxActivations === null)) return;',
        'if (leaseSeconds !== null || !isTaken || maxActivations === null) return;',
      ),
    ],
    schedule: inOrder([{ does: 'release', license: NODES, machine: 'm0' }, pass(2_000)]),
  },
  'a branch keeps the seat that is told to be released': {
    edits: [
      edit(
        'branch/branch-copy.ts',
        'sql.exec("DELETE FROM copies WHERE kind = \'seat\' AND ref = ? AND as_of < ?", changed, revision);',
        '',
      ),
    ],
    schedule: inOrder([{ does: 'release', license: NODES, machine: 'm0' }, pass(2_000)]),
  },
  'the seat clock is stored past the journal': {
    edits: [
      edit(
        'object/seat-clock.ts',
        'journal.write(() => kv.put(SEAT_TIME, highestMs));',
        'kv.put(SEAT_TIME, highestMs);',
      ),
    ],
    schedule: inOrder([verify(HOME), pass(70_000), verify(HOME), pass(500)]),
  },
  'the seat clock is not stored when a seat is taken': {
    edits: [edit('home/seats.ts', 'seatClock.store();', '')],
    schedule: inOrderFromCold([
      { does: 'seat', call: 'activate', region: HOME, license: FLOAT, machine: 'm0' },
      pass(35_000),
      { does: 'seat', call: 'heartbeat', region: HOME, license: FLOAT, machine: 'm0' },
      pass(27_000),
      { does: 'verify', region: HOME, license: NODES, machine: 'm3' },
      pass(34_000),
      { does: 'seat', call: 'activate', region: HOME, license: FLOAT, machine: 'm1' },
      pass(500),
      crash('home'),
      { does: 'setClock', kind: 'home', ms: -20_000 },
      { does: 'verify', region: HOME, license: FLOAT, machine: 'm0' },
      pass(500),
    ]),
  },
};
