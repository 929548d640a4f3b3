import { HOME } from '../world.ts';
import {
  cut,
  edit,
  fault,
  flood,
  inOrder,
  inOrderFromCold,
  letGo,
  type Mutants,
  open,
  pass,
  repeat,
  verify,
} from './mutant.ts';

/** Home also calls back what it shouldn't have granted, and a branch minds the limit as far as it knows of the usage. */
const NEVER_RECALLED = edit('home/branches.ts', 'nowMs + leaseMs)) < 0;', 'nowMs + leaseMs)) < -1e9;');
const IGNORES_LIMIT = edit('branch/limits.ts', 'startMs), apiLimit - apiUsage)', 'startMs))');

export const LIMITS: Mutants = {
  'a new plan does not recall what branches hold': {
    edits: [
      edit('home/branches.ts', 'telling.recallWithNext([...records.keys()]);', ';'),
      NEVER_RECALLED,
      IGNORES_LIMIT,
    ],
    schedule: inOrder([
      { does: 'change', what: 'changePlan' },
      pass(5_000),
      ...repeat(3, flood, pass(4_000)),
      { does: 'change', what: 'changePlan' },
      pass(1_000),
      verify('oc', 0, 8),
      pass(2_000),
    ]),
  },
  'an upgrade carries the usage over without what branches hold': {
    edits: [
      edit(
        'home/catch-up.ts',
        'exposure: usage.exposureIn(fromMs)',
        'exposure: 0 * usage.exposureIn(fromMs)',
      ),
    ],
    schedule: inOrder([verify('oc', 0, 5), pass(300), { does: 'change', what: 'changePlan' }, pass(5_000)], {
      plans: 'upgrade',
    }),
  },
  'a branch holds more than what a plan leaves that ends': {
    edits: [
      edit(
        'home/usage.ts',
        'limitThrough(account(), nowMs, untilMs)',
        'limitThrough(account(), nowMs, nowMs)',
      ),
    ],
    schedule: inOrder(
      [
        { does: 'change', what: 'changePlan' },
        pass(3_000),
        ...repeat(3, verify(HOME, 0, 48), pass(7_000)),
        ...repeat(4, verify('oc', 0, 3), verify('weur', 0, 3), pass(2_000)),
        // The branches have renewed their leases shortly before the plan ends.
        pass(14_000),
        cut('oc'),
        cut('weur'),
        ...repeat(15, verify('oc'), verify('weur'), pass(600)),
      ],
      { plans: 'briefGrants' },
    ),
  },
  'a grant is larger than what remains': {
    edits: [
      edit(
        'rules/limits.ts',
        'Math.min(Math.max(usedLately, FIRST_GRANT), most) - left',
        'Math.max(usedLately, 40, most) - left',
      ),
      edit('rules/limits.ts', 'if (most < SMALLEST_GRANT) return 0;', ''),
      NEVER_RECALLED,
      IGNORES_LIMIT,
    ],
    schedule: inOrder([
      { does: 'change', what: 'changePlan' },
      pass(3_000),
      ...repeat(7, verify(HOME, 0, 50), pass(1_500)),
      ...repeat(6, verify('oc', 0, 8), pass(3_500)),
    ]),
  },
  'home does not count what it has granted': {
    edits: [edit('rules/limits.ts', 'number => granted - returned;', 'number => 0 * (granted - returned);')],
    schedule: inOrder([
      { does: 'change', what: 'changePlan' },
      pass(3_000),
      cut('oc'),
      ...repeat(8, verify(HOME, 0, 50), pass(1_500)),
      verify('oc', 0, 8),
      pass(2_000),
    ]),
  },
  'a grant has no period': {
    edits: [
      edit(
        'rules/limits.ts',
        'escrow?.periodStartMs === periodStartMs ? escrow',
        'escrow && periodStartMs ? escrow',
      ),
      edit(
        'rules/limits.ts',
        'escrows.find((escrow) => escrow.periodStartMs === periodStartMs)',
        'escrows.find(() => periodStartMs > 0)',
      ),
    ],
    schedule: inOrder([pass(90_000), ...repeat(30, verify('oc', 0, 9), pass(2_000))], {
      beforeMonthEndMs: 60_000,
    }),
  },
  'a grant that is given back is merged twice': {
    edits: [
      edit(
        'rules/limits.ts',
        'returned: Math.max(known.returned, reported.returned)',
        'returned: known.returned + reported.returned',
      ),
    ],
    schedule: inOrder([], { isExhausted: true }),
  },
  'beyond the usage limit, everybody is a customer': {
    edits: [
      edit('home/seats.ts', 'return machine !== null && isRecent(machine.seat, seatMs);', 'return true;'),
    ],
    schedule: inOrder([], { isExhausted: true }),
  },
  'beyond the usage limit, nobody is a customer': {
    edits: [
      edit('home/seats.ts', 'return machine !== null && isRecent(machine.seat, seatMs);', 'return false;'),
    ],
    schedule: inOrder([], { isExhausted: true }),
  },
  'customers have no limit': {
    edits: [edit('rules/usage.ts', 'Math.floor(apiLimit / 4)', 'apiLimit')],
    schedule: inOrder([], { isExhausted: true }),
  },
  'home refuses a call without recalling grants': {
    edits: [
      edit(
        'rules/limits.ts',
        'unspent(escrow, escrow.periodStartMs) > 0',
        'unspent(escrow, escrow.periodStartMs) < 0',
      ),
    ],
    schedule: inOrder([], { isExhausted: true }),
  },
  'an upgrade is carried without what branches hold': {
    edits: [edit('home/catch-up.ts', 'usage.exposureIn(fromMs)', '0 * usage.exposureIn(fromMs)')],
    schedule: inOrder([verify('oc', 0, 8), pass(100), { does: 'change', what: 'changePlan' }, pass(2_000)], {
      plans: 'upgrade',
    }),
  },
  'home closes a branch before its last report': {
    edits: [
      edit(
        'home/branches.ts',
        'if (!isHeard) return { closed: report.opening };',
        'if (isHeard && !isWanted(region)) journal.change(() => takeOver(region, ({ spent }) => spent));\n      if (!isHeard || !isWanted(region)) return { closed: report.opening };',
      ),
    ],
    schedule: inOrderFromCold([
      ...open('oc'),
      pass(8_500),
      { does: 'set', settings: { REGIONS: 'off' } },
      fault('hold', 'renew', 'request', 'oc'),
      pass(14_000),
      verify('oc', 0, 3),
      pass(100),
      letGo,
      pass(3_000),
    ]),
  },
  'a branch goes on answering while it closes': {
    edits: [
      edit(
        'branch/home-link.ts',
        "const isOpen = () => facts.state === 'open';",
        "const isOpen = () => facts.state !== 'closed';",
      ),
      edit(
        'branch/home-link.ts',
        "    lease = null;\n    journal.change(() => {\n      copy.save({ state: 'closing' });\n      limits.giveBack();",
        "    journal.change(() => {\n      copy.save({ state: 'closing' });",
      ),
    ],
    schedule: inOrder([
      fault('hold', 'close', 'request', 'oc'),
      { does: 'set', settings: { REGIONS: 'off' } },
      verify(HOME),
      pass(500),
      verify('oc', 0, 3),
      pass(500),
      letGo,
      pass(3_000),
    ]),
  },
};
