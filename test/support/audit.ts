import { accountsD1, firstD1 } from './databases.ts';

interface StoredEntry {
  account_id: string;
  id: string;
  action: string;
  actor_kind: string;
  actor_id: string | null;
  target: string | null;
  ip: string | null;
  details: string | null;
}

/** Returns the entries of all accounts in both databases, oldest first. */
export const storedEntries = async (): Promise<StoredEntry[]> => {
  const found = await Promise.all(
    [firstD1, accountsD1].map((d1) => d1.prepare('SELECT * FROM audit_log').all<StoredEntry>()),
  );
  return found.flatMap(({ results }) => results).toSorted((a, b) => (a.id < b.id ? -1 : 1));
};
