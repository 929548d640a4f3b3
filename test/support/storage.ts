import { accountsD1 } from './databases.ts';

/** How many bytes the account stores, as its rows say. */
export const sumOfRows = async (accountId: string): Promise<number> =>
  (await accountsD1
    .prepare('SELECT bytes FROM stored_bytes WHERE account_id = ?')
    .bind(accountId)
    .first<number>('bytes')) ?? 0;

/** How many bytes the account stores, as the triggers have counted. */
export const countedBytes = (accountId: string): Promise<number | null> =>
  accountsD1
    .prepare('SELECT bytes FROM license_totals WHERE account_id = ?')
    .bind(accountId)
    .first<number>('bytes');

export const setCountedBytes = async (accountId: string, bytes: number | null): Promise<void> => {
  await accountsD1
    .prepare('UPDATE license_totals SET bytes = ? WHERE account_id = ?')
    .bind(bytes, accountId)
    .run();
};
