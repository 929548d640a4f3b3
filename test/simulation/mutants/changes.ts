import {
  crash,
  cut,
  edit,
  fault,
  heal,
  inOrder,
  inOrderFromCold,
  type Mutants,
  letGo,
  open,
  pass,
  toggle,
  verify,
} from './mutant.ts';

export const CHANGES: Mutants = {
  'a change is answered before branches acknowledge it': {
    edits: [
      edit(
        'rules/messages.ts',
        'nowMs < leasedUntilMs && applied < revision',
        'nowMs < 0 && nowMs < leasedUntilMs && applied < revision',
      ),
    ],
    schedule: inOrder([toggle(), pass(2_000)]),
  },
  'a repeated change does not wait after a restart': {
    edits: [edit('home/telling.ts', 'let barrier = revision;', 'let barrier = 0 * revision;')],
    schedule: inOrder([cut('oc'), toggle(), pass(1_000), crash('home'), pass(35_000)]),
  },
  'home stores what it has told as applied': {
    edits: [
      edit('home/known-branches.ts', 'const { applied } = branch;', 'const applied = store.facts.revision;'),
    ],
    schedule: inOrder([
      pass(25_000),
      fault('lose', 'tell', 'request', 'oc', { times: 50 }),
      toggle(),
      pass(200),
      fault('lose', 'renew', 'answer', 'oc', { times: 50 }),
      pass(12_500),
      crash('home'),
      pass(5_000),
    ]),
  },
  'a branch notes changes without applying them': {
    edits: [
      edit(
        'branch/branch-copy.ts',
        'for (const { kind, ref } of feed.rows) drops[kind]?.(ref, feed.through);',
        ';',
      ),
    ],
    schedule: inOrder([toggle(), pass(2_000)]),
  },
  'a branch that has missed changes keeps its copy': {
    edits: [edit('rules/messages.ts', "if (feed.isReset) return 'reset';", '')],
    schedule: inOrder([
      cut('oc'),
      ...[0, 1, 2, 3, 1, 2, 3].flatMap((license) => [toggle(license), pass(100)]),
      heal,
      pass(5_000),
    ]),
  },
  'a branch keeps a row that has changed meanwhile': {
    edits: [edit('rules/messages.ts', 'boolean => asOf >= changedAt;', 'boolean => asOf >= 0 * changedAt;')],
    schedule: inOrderFromCold([
      ...open('oc'),
      fault('hold', 'forward', 'answer', 'oc'),
      verify('oc', 1),
      pass(400),
      fault('hold', 'tell', 'answer', 'oc'),
      toggle(1),
      pass(400),
      letGo,
      pass(3_000),
    ]),
  },
  'a branch answers not_found': {
    edits: [
      edit(
        'branch/gate-branch.ts',
        "if (!license || call !== 'verify') return null;",
        "if (call !== 'verify') return null; if (!license) return { verdict: plainVerdict(null, isoDate(nowMs)), isSeen: false };",
      ),
    ],
    schedule: inOrderFromCold([...open('oc'), verify('oc', 1), pass(2_000)]),
  },
};
