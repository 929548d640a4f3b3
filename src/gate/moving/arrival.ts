import { eq } from 'drizzle-orm';
import { databaseOf } from '../../db/client.ts';
import { accounts } from '../../db/schema.ts';
import { gateAt } from '../../shared/objects/address.ts';
import type { ObjectContext } from '../../shared/objects/context.ts';
import type { Disk, TableRows } from '../../shared/objects/disk.ts';
import type { Region } from '../../shared/rules/regions.ts';
import { commitUnannounced } from '../feed/write.ts';
import type { Arrived, MovingHome, StoredPlace } from './place.ts';

/** A message from a gate to the object that takes its place. */
export interface Part {
  /** Messages may be late. One with a lower number than an earlier one has older rows. */
  number: number;
  region: Region;
  /** Creates the tables. Only the first message has it. */
  schema?: string[];
  tables?: TableRows[];
  /** The values beside the tables. Only a message with everything that was still missing has them. */
  values?: [name: string, value: unknown][];
}

/** How an object becomes the home of an account that moves here. `open` opens the home on the rows that have arrived. */
export const openArrival = (
  { env, accountId, journal }: ObjectContext,
  place: StoredPlace,
  disk: Disk,
  open: () => MovingHome,
) => {
  const becomeHome = (arrived: Arrived | null) => {
    open();
    journal.change(() => place.save({ state: 'home', arrived }));
  };

  return {
    receive: ({ number, region, schema, tables = [], values }: Part): void => {
      const now = place.now();
      if (now.state !== 'receiving') throw new Error('This gate answers calls already.');
      if (number === now.number) return;
      if (number < now.number) throw new Error('A later message has arrived already.');
      if (now.isEmptied && !schema) throw new Error('The rows of the messages before were deleted.');
      journal.change(() => {
        if (schema) disk.create(schema);
        for (const rows of tables) disk.write(rows);
        if (values) place.replaceValues(values);
        const isComplete = values !== undefined;
        place.save({ state: 'receiving', number, region, isComplete, atMs: Date.now() });
      });
    },

    /** The first call proves that the object before has stopped to answer. */
    begin: (): void => {
      const now = place.now();
      if (now.state !== 'receiving') return;
      if (!now.isComplete || !now.region) throw new Error('The account has not moved to this gate.');
      becomeHome({ region: now.region, atMs: Date.now(), isAnnounced: false });
    },

    /** An object that calls are forwarded to, but that has no rows, has lost them. Makes it an empty home. */
    reopen: (): void => {
      const now = place.now();
      if (now.state === 'receiving' && now.number === 0) becomeHome(null);
    },

    /** Tells D1 and the earlier objects where the account is. The object just before this one knows. */
    announce: async (arrived: Arrived): Promise<void> => {
      const { region } = arrived;
      const db = databaseOf(env, accountId);
      const setRegion = db.update(accounts).set({ homeRegion: region }).where(eq(accounts.id, accountId));
      await commitUnannounced({ db, accountId }, [setRegion], [{ kind: 'account', ref: accountId }]);
      await open().pull();
      const { epoch } = place;
      const earlier = Array.from({ length: Math.max(0, epoch - 2) }, (_, index) => index + 1);
      // Without this, they forward by way of the objects between.
      await Promise.allSettled(earlier.map(async (former) => gateAt(env, accountId, former).redirect(epoch)));
      if (place.now().state === 'home')
        journal.change(() => place.save({ state: 'home', arrived: { ...arrived, isAnnounced: true } }));
    },
  };
};
