import type { Calls } from './calls.ts';
import type { CatchUp } from './catch-up.ts';
import type { Changes } from './changes.ts';
import type { Copy } from './copy.ts';
import type { HomeBranches } from './branches.ts';
import type { Relay } from '../object/relay.ts';
import type { Announcement, CountedChange } from '../rules/replies.ts';
import type { FeedRead } from './source.ts';
import type { Upkeep } from './upkeep.ts';

interface Parts {
  copy: Copy;
  calls: Pick<Calls, 'recall'>;
  changes: Changes;
  upkeep: Upkeep;
  catchUp: CatchUp;
  relay: Relay;
  branches: HomeBranches;
  pull: () => Promise<void>;
}

/** What the Worker calls around each change of the account's data in D1. */
export const openChangeCalls = ({ copy, calls, changes, upkeep, catchUp, relay, branches, pull }: Parts) => ({
  announce: async (ref: string, counted: CountedChange | null, token: string): Promise<Announcement> => {
    if (counted) await calls.recall();
    const refusal = changes.announce(token, ref, counted);
    if (refusal) return refusal;
    await upkeep.arm();
    const { appliedSeq, appliedAt } = copy.progress();
    return { refused: null, position: { appliedSeq, appliedAt } };
  },

  apply: async (token: string, read: FeedRead): Promise<void> => {
    const readsAgain = catchUp.apply(read);
    // A new gate's first pull brings the first page of its copy, which for most accounts is everything.
    if (readsAgain || !copy.progress().complete) await pull();
    upkeep.settle(token);
    await relay.soon();
    await branches.acknowledged();
  },

  abandon: changes.abandon,

  pull: async (): Promise<void> => {
    await pull();
    await branches.acknowledged();
  },

  setWantsVerified: async (wanted: boolean): Promise<void> => {
    relay.setWantsVerified(wanted);
    branches.log([{ kind: 'account', ref: '', isNew: false }]);
    await branches.acknowledged();
  },
});
