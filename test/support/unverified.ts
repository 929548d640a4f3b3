import { newId } from '../../src/shared/text/ids.ts';
import { accountsD1, firstD1 } from './databases.ts';

/** Inserts accounts whose addresses nobody has proved. Returns their addresses. */
export const insertUnverified = async (
  count: number,
  fields: { createdAt: number; toldAt: number | null },
): Promise<string[]> => {
  const rows = Array.from({ length: count }, () => {
    const id = newId('acct');
    return { id, email: `${id.toLowerCase()}@unverified.example`, ...fields };
  });
  const json = JSON.stringify(rows);
  const values = "SELECT value ->> 'id', value ->> 'email'";
  await accountsD1
    .prepare(
      `INSERT INTO accounts (id, email, is_unverified, created_at, unverified_told_at)
       ${values}, 1, value ->> 'createdAt', value ->> 'toldAt' FROM json_each(?)`,
    )
    .bind(json)
    .run();
  await firstD1
    .prepare(`INSERT INTO users (account_id, email, password_hash) ${values}, '' FROM json_each(?)`)
    .bind(json)
    .run();
  return rows.map(({ email }) => email);
};
