import { newId } from '../../src/shared/text/ids.ts';
import { accountsD1, firstD1 } from './databases.ts';

interface Fields {
  createdAt: number;
  isUnverified?: boolean;
  unverifiedToldAt?: number | null;
  eraseAt?: number;
}

/** Inserts accounts with users, of which nobody has the password. It costs two statements, however many there are. */
export const insertAccounts = async (fields: Fields[]): Promise<{ id: string; email: string }[]> => {
  const rows = fields.map((field) => {
    const id = newId('acct');
    return { id, email: `${id.toLowerCase()}@inserted.example`, ...field };
  });
  const json = JSON.stringify(rows);
  const values = "SELECT value ->> 'id', value ->> 'email'";
  await accountsD1
    .prepare(
      `INSERT INTO accounts (id, email, created_at, is_unverified, unverified_told_at, erase_at)
       ${values}, value ->> 'createdAt', ifnull(value ->> 'isUnverified', 0), value ->> 'unverifiedToldAt',
         value ->> 'eraseAt' FROM json_each(?)`,
    )
    .bind(json)
    .run();
  await firstD1
    .prepare(`INSERT INTO users (account_id, email, password_hash) ${values}, '' FROM json_each(?)`)
    .bind(json)
    .run();
  return rows;
};
