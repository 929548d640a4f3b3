import { HOME } from '../world.ts';
import {
  crash,
  cut,
  edit,
  fault,
  flood,
  heal,
  inOrder,
  type Mutants,
  inOrderFromCold,
  letGo,
  open,
  pass,
  repeat,
  toggle,
  verify,
} from './mutant.ts';

export const RATES: Mutants = {
  'shares are raised before others are lowered': {
    edits: [
      edit(
        'rules/limits.ts',
        'Math.max(0, pool - sumInForce(branches))',
        'Math.max(pool, pool - sumInForce(branches))',
      ),
    ],
    schedule: inOrderFromCold([
      ...open('oc'),
      pass(71_000),
      cut('oc'),
      ...open('weur'),
      ...repeat(4, verify('weur', 0, 3), pass(2_000)),
      pass(2_000),
      flood,
    ]),
  },
  'an offer is taken for in force only once it is confirmed': {
    edits: [
      edit('rules/limits.ts', 'Math.max(offered.perSecond, confirmed.perSecond)', 'confirmed.perSecond'),
    ],
    schedule: inOrderFromCold([...open('oc'), pass(52_000), cut('oc'), flood]),
  },
  'home forgets shares when it restarts': {
    edits: [
      edit(
        'home/branch-store.ts',
        'shares.set(region, share);\n  }',
        'shares.set(region, newShare() ?? share);\n  }',
      ),
    ],
    schedule: inOrderFromCold([
      ...open('oc'),
      pass(71_000),
      cut('oc'),
      crash('home'),
      verify(HOME),
      pass(3_000),
      flood,
    ]),
  },
  'home takes an offer for confirmed when it restarts': {
    edits: [
      edit(
        'home/branch-store.ts',
        'shares.set(region, share);\n  }',
        'shares.set(region, { ...share, confirmed: share.offered });\n  }',
      ),
    ],
    schedule: inOrderFromCold([
      ...open('oc'),
      pass(54_500),
      ...open('weur'),
      fault('lose', 'renew', 'answer', 'oc', { times: 50 }),
      pass(2_900),
      crash('home'),
      ...repeat(2, verify('weur', 0, 3), pass(2_500)),
      flood,
    ]),
  },
  'a share outlives its lease': {
    edits: [
      edit(
        'rules/limits.ts',
        'return { offered: ended, confirmed: ended };',
        'return ended.number > 0 ? newShare() : { offered: ended, confirmed: ended };',
      ),
    ],
    schedule: inOrder([
      pass(60_000),
      cut('oc'),
      pass(19_000),
      verify('oc', 0, 8),
      pass(2_500),
      verify('oc', 0, 8),
      pass(8_000),
      ...repeat(3, verify('weur', 0, 6), pass(4_000)),
      heal,
      verify('oc'),
      pass(700),
      flood,
    ]),
  },
  'an outdated offer of a share replaces a newer one': {
    edits: [
      edit(
        'rules/limits.ts',
        'offer.number < known.number ? known : offer',
        'offer.number < known.number ? offer : offer',
      ),
    ],
    schedule: inOrderFromCold([
      ...open('oc'),
      pass(71_000),
      fault('hold', 'tell', 'request', 'oc'),
      toggle(1),
      pass(3_000),
      ...open('weur'),
      ...repeat(4, verify('weur', 0, 3), pass(4_400)),
      verify('oc', 1),
      ...repeat(2, pass(3_100), verify('weur', 0, 3)),
      letGo,
      pass(2_500),
      flood,
    ]),
  },
  'a raised share starts full': {
    edits: [
      edit(
        'object/admission.ts',
        'raiseRate(recoveredAtMs, nowMs, before / share)',
        'raiseRate(recoveredAtMs, nowMs, 1)',
      ),
    ],
    schedule: inOrderFromCold([
      ...open('oc'),
      pass(71_000),
      verify('oc', 0, 17),
      pass(100),
      crash('oc'),
      verify('oc'),
      pass(500),
      verify('oc', 0, 17),
    ]),
  },
};
