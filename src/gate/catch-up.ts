import type { Database } from '../db/client.ts';
import type { Copy } from './copy.ts';
import type { Outgoing } from './outgoing.ts';
import { readFeed, readPage } from './source.ts';

interface Parts {
  storage: DurableObjectStorage;
  db: Database;
  accountId: string;
  copy: Copy;
  outgoing: Outgoing;
}

/** The whole feed, and the next page of a copy that is not complete. */
export const catchUp = async ({ storage, db, accountId, copy, outgoing }: Parts): Promise<void> => {
  for (let more = true; more;) {
    const changes = await readFeed(db, accountId, copy.progress().appliedSeq);
    const { lastSeq, rows, events } = changes;
    if (lastSeq !== null) {
      storage.transactionSync(() => {
        copy.apply(rows, lastSeq);
        outgoing.insert(events);
      });
    }
    more = changes.more;
  }
  const { complete, loadedThrough } = copy.progress();
  if (!complete) {
    const page = await readPage(db, accountId, loadedThrough);
    storage.transactionSync(() => copy.adoptPage(page.rows, page.last));
  }
  // The next pull deletes in D1 what this one has applied, so that has to be on disk.
  await storage.sync();
};
