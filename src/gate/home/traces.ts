import { branchOf, gateAt } from '../../shared/objects/address.ts';
import type { ObjectContext } from '../../shared/objects/context.ts';
import { within } from '../../shared/objects/within.ts';
import { REGIONS } from '../../shared/rules/regions.ts';
import type { StoredPlace } from '../moving/place.ts';
import type { Relay } from '../object/outgoing.ts';
import type { TracedLicense } from '../rules/rows.ts';
import type { HomeBranches } from './branches.ts';
import type { CatchUp } from './catch-up.ts';
import type { HomeStore } from './store.ts';

/** An object that can't be reached must not keep the caller waiting. The erasure is then finished later. */
const CALLS_MS = 5_000;

/**
 * Erases what remains of deleted licenses and erased customers, besides the rows that the feed changes: the names of machines
 * while a license was the customer's, the feed itself, the branches' copies, and rows where the account isn't anymore. Events that were created
 * before are in the outbox afterwards. Returns the number of the licenses' machines.
 */
export const openTraces =
  (
    { env, accountId, journal }: ObjectContext,
    place: StoredPlace,
    { machines }: HomeStore,
    branches: HomeBranches,
    { pull }: CatchUp,
    relay: Relay,
  ) =>
  async (licenses: TracedLicense[]): Promise<number> => {
    // Each read deletes the rows of the feed that were applied before it.
    await pull();
    await pull();
    const count = journal.change(() => {
      branches.forgetLog();
      return licenses.reduce((sum, license) => sum + machines.eraseNames(license), 0);
    });
    await branches.acknowledged();
    const regions = branches.hasOpenedAny() ? REGIONS : [];
    await within(
      CALLS_MS,
      Promise.all([
        ...regions.map(async (region) => branchOf(env, accountId, region).eraseTraces()),
        ...place.formerEpochs().map(async (former) => gateAt(env, accountId, former).empty()),
      ]),
    );
    await journal.commit();
    await relay.forward();
    return count;
  };
