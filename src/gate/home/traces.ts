import { branchOf, gateAt } from '../../shared/objects/address.ts';
import { REGIONS } from '../../shared/rules/regions.ts';
import { within } from '../../shared/objects/within.ts';
import { writeOrRestart } from '../../shared/objects/write-or-restart.ts';
import type { Activations } from './activations.ts';
import type { Moving } from '../moving/moving.ts';
import type { HomeBranches } from './branches.ts';
import type { Relay } from '../object/relay.ts';
import type { TracedLicense } from '../rules/seller-types.ts';

/** An object that can't be reached must not keep the caller waiting. The erasure is then finished later. */
const CALLS_MS = 5_000;

interface Parts {
  ctx: DurableObjectState;
  env: Env;
  accountId: string;
  moving: Pick<Moving, 'formerEpochs'>;
  activations: Pick<Activations, 'eraseNames'>;
  branches: Pick<HomeBranches, 'forgetLog' | 'hasOpenedAny' | 'acknowledged'>;
  relay: Pick<Relay, 'forward'>;
  pull: () => Promise<void>;
  /** Writes what is still in memory. */
  flush: () => void;
}

/**
 * Erases what remains of deleted licenses and erased customers, besides the rows that the feed changes: the names of machines
 * while a license was the customer's, the feed itself, the branches' copies, and rows where the account isn't anymore. Events that were created
 * before are in the outbox afterwards. Returns the number of the licenses' activations.
 */
export const openTraces = (parts: Parts) => {
  const { ctx, env, accountId, moving, activations, branches, relay, pull, flush } = parts;
  return async (licenses: TracedLicense[]): Promise<number> => {
    // Each read deletes the rows of the feed that were applied before it.
    await pull();
    await pull();
    const count = writeOrRestart(ctx, () => {
      branches.forgetLog();
      return licenses.reduce((sum, license) => sum + activations.eraseNames(license), 0);
    });
    await branches.acknowledged();
    const regions = branches.hasOpenedAny() ? REGIONS : [];
    await within(
      CALLS_MS,
      Promise.all([
        ...regions.map(async (region) => branchOf(env, accountId, region).eraseTraces()),
        ...moving.formerEpochs().map(async (former) => gateAt(env, accountId, former).empty()),
      ]),
    );
    flush();
    await relay.forward();
    return count;
  };
};
