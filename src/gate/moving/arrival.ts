import { eq } from 'drizzle-orm';
import type { AccountDatabase } from '../../db/client.ts';
import { accounts, feed } from '../../db/schema.ts';
import type { Region } from '../../shared/rules/regions.ts';
import { writeOrRestart } from '../../shared/objects/write-or-restart.ts';
import type { Disk, TableRows } from '../../shared/objects/disk.ts';
import { KEEP_MS, type StoredPlace } from './place.ts';

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

interface Parts {
  ctx: DurableObjectState;
  place: StoredPlace;
  disk: Disk;
  db: () => AccountDatabase;
  accountId: string;
  /** Opens the gate on the rows that have arrived. */
  open: () => void;
  /** Applies the feed, once the gate is open. */
  pull: () => Promise<void>;
  /** Tells the object of an earlier epoch where the account is now. */
  redirect: (earlier: number) => Promise<void>;
  epoch: number;
}

/** How an object becomes the home of an account that moves here. */
export const openArrival = (parts: Parts) => {
  const { ctx, place, disk, db, accountId, open, pull, redirect, epoch } = parts;

  return {
    receive: ({ number, region, schema, tables = [], values }: Part): void => {
      const now = place.now();
      if (now.state !== 'receiving') throw new Error('This gate answers calls already.');
      if (number === now.number) return;
      if (number < now.number) throw new Error('A later message has arrived already.');
      if (now.isEmptied && !schema) throw new Error('The rows of the messages before were deleted.');
      writeOrRestart(ctx, () => {
        if (schema) disk.create(schema);
        for (const rows of tables) disk.write(rows);
        if (values) place.replaceValues(values);
        const isComplete = values !== undefined;
        place.save({ state: 'receiving', number, region, isComplete, atMs: Date.now() });
      });
      // Rows that nothing follows are deleted.
      void ctx.storage.setAlarm(Date.now() + KEEP_MS);
    },

    /** The first call proves that the object before has stopped to answer. */
    begin: (): void => {
      const now = place.now();
      if (now.state !== 'receiving') return;
      if (!now.isComplete || !now.region) throw new Error('The account has not moved to this gate.');
      open();
      place.save({
        state: 'home',
        arrived: { region: now.region, atMs: Date.now(), isAnnounced: false },
      });
      void ctx.storage.setAlarm(Date.now() + 1);
    },

    /** An object that calls are forwarded to, but that has no rows, has lost them. Makes it an empty home. */
    reopen: (): void => {
      const now = place.now();
      if (now.state !== 'receiving' || now.number > 0) return;
      open();
      place.save({ state: 'home', arrived: null });
    },

    /** Tells D1 and the earlier objects where the account is. The object just before this one knows. */
    announce: async (region: Region, atMs: number): Promise<void> => {
      const feedRow = { accountId, createdAt: Date.now(), kind: 'account', ref: accountId } as const;
      await db().batch([
        db().update(accounts).set({ homeRegion: region }).where(eq(accounts.id, accountId)),
        db().insert(feed).values(feedRow),
      ]);
      await pull();
      const earlier = Array.from({ length: Math.max(0, epoch - 2) }, (_, index) => index + 1);
      // Without this, they forward by way of the objects between.
      await Promise.allSettled(earlier.map(redirect));
      if (place.now().state === 'home')
        place.save({ state: 'home', arrived: { region, atMs, isAnnounced: true } });
    },
  };
};
