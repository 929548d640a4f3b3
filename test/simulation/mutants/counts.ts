import { LICENSES } from '../account.ts';
import { HOME } from '../world.ts';
import {
  crash,
  edit,
  fault,
  inOrder,
  inOrderFromCold,
  letGo,
  type Mutants,
  open,
  pass,
  toggle,
  verify,
} from './mutant.ts';

export const COUNTS: Mutants = {
  'events are deleted before the outbox has accepted them': {
    edits: [
      edit(
        'object/outgoing.ts',
        '      const answer = await outboxOf',
        '      journal.write(() => outgoing.remove(batch));\n      const answer = await outboxOf',
      ),
    ],
    schedule: inOrder([
      fault('lose', 'accept', 'request', 'home', { times: 50 }),
      verify(HOME),
      pass(20_000),
    ]),
  },
  'home counts a call that its branch has counted': {
    edits: [
      edit(
        'branch/forwarding.ts',
        'await askHome(call, ledger.hasCounted(call.callId))',
        'await askHome(call, !ledger)',
      ),
    ],
    schedule: inOrder([
      fault('lose', 'verify', 'answer', 'oc'),
      verify('oc', 1),
      pass(20),
      fault('hold', 'verify', 'request', 'oc'),
      toggle(1),
      pass(1_500),
      letGo,
      pass(5_000),
    ]),
  },
  'a repeated call is answered elsewhere': {
    edits: [edit('branch/gate-branch.ts', 'this.#forwarding.wasForwarded(callId) || ', '')],
    schedule: inOrderFromCold([
      ...open('oc'),
      fault('lose', 'verify', 'answer', 'oc'),
      verify('oc', 1),
      pass(5_000),
    ]),
  },
  'a repeated call is counted again': {
    edits: [edit('object/answer-call.ts', '&& !ledger.hasCounted(callId)', '')],
    schedule: inOrder([fault('lose', 'verify', 'answer', 'home'), verify(HOME), pass(5_000)]),
  },
  'a license key that does not exist counts': {
    edits: [
      edit('object/answer-call.ts', 'if (!isCharged || !license) return', 'if (!isCharged) return'),
      edit('object/answer-call.ts', 'if (license.product &&', 'if (license?.product &&'),
    ],
    schedule: inOrder([verify(HOME, LICENSES.length, 5), pass(5_000)]),
  },
  'a call is answered before its count is written': {
    edits: [
      edit(
        'home/calls.ts',
        'await journal.commit();\n    if (awaitsBranches)',
        'void journal.commit();\n    if (awaitsBranches)',
      ),
    ],
    schedule: inOrder([verify(HOME, 0, 8), pass(30), crash('home'), pass(2_000)]),
  },
};
