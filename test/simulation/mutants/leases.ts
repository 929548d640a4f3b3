import { HOME } from '../world.ts';
import {
  crash,
  cut,
  edit,
  fault,
  inOrder,
  inOrderFromCold,
  open,
  type Mutants,
  pass,
  toggle,
  verify,
} from './mutant.ts';

export const LEASES: Mutants = {
  'a branch counts its lease from the answer': {
    edits: [
      edit(
        'branch/home-link.ts',
        'lease = renew(lease, { sentMs,',
        'lease = renew(lease, { sentMs: Date.now(),',
      ),
    ],
    schedule: inOrder([
      pass(22_000),
      fault('delay', 'renew', 'answer', 'oc', { ms: 12_000 }),
      pass(26_500),
      cut('oc'),
      toggle(),
      pass(35_000),
    ]),
  },
  'a branch ends its lease without a margin': {
    edits: [edit('rules/lease.ts', 'sentMs + leaseMs - leaseMarginMs(leaseMs);', 'sentMs + leaseMs;')],
    schedule: inOrder([cut('oc'), { does: 'setClock', kind: 'home', ms: 1_300 }, toggle(), pass(35_000)], {
      drift: { home: 0.009, oc: -0.009 },
    }),
  },
  'a branch answers without a lease': {
    edits: [
      edit('rules/lease.ts', 'nowMs >= lease.sentMs && nowMs < lease.untilMs', 'nowMs >= lease.sentMs'),
    ],
    schedule: inOrder([cut('oc'), toggle(), pass(35_000)]),
  },
  'home forgets its leases when it restarts': {
    edits: [edit('rules/lease.ts', 'number => startedMs + leaseMs;', 'number => startedMs + 0 * leaseMs;')],
    schedule: inOrder([cut('oc'), toggle(), pass(1_000), crash('home'), pass(35_000)]),
  },
  'home forgets a lease that is longer than the setting': {
    edits: [
      edit(
        'home/known-branches.ts',
        'storedLeaseMs(branch.leasedUntilMs, nowMs)',
        'Math.min(leaseMs, storedLeaseMs(branch.leasedUntilMs, nowMs))',
      ),
    ],
    schedule: inOrder([
      { does: 'set', settings: { REGIONS_LEASE_SECONDS: '300' } },
      pass(25_000),
      { does: 'set', settings: { REGIONS_LEASE_SECONDS: '5' } },
      pass(212_000),
      verify('oc'),
      pass(1_000),
      crash('home'),
      cut('oc'),
      toggle(),
      pass(60_000),
    ]),
  },
  'a process that was replaced renews a lease': {
    edits: [
      edit(
        'home/known-branches.ts',
        'store.update(region, { ...record, escrows, leaseMs',
        'if (escrows.at(-1)?.granted !== record.escrows.at(-1)?.granted) store.update(region, { ...record, escrows, leaseMs',
      ),
      edit(
        'home/known-branches.ts',
        'if (escrows !== record.escrows || report.counters)',
        'if (escrows !== record.escrows)',
      ),
    ],
    schedule: inOrderFromCold(
      // The shares have come to rest, so nothing else has to be written.
      [
        ...open('oc'),
        pass(188_600),
        { does: 'replace', kind: 'home', from: 'oc' },
        verify(HOME),
        pass(50_000),
        toggle(),
        pass(20_000),
      ],
    ),
  },
};
