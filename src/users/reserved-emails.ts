import { type SQL, sql } from 'drizzle-orm';
import { userTokens } from '../db/schema.ts';

// While an address can be taken back, no other account can get it. A thief could otherwise keep the owner from it by
// registering it after the change.

/** Whether another account may still take the address back, as a condition for a batch. */
export const isReserved = (email: string, accountId: string): SQL => sql`EXISTS (
  SELECT 1 FROM ${userTokens}
  WHERE ${userTokens.purpose} = 'restore_email' AND ${userTokens.email} = ${email}
    AND ${userTokens.expiresAt} > ${Date.now()} AND ${userTokens.accountId} <> ${accountId}
)`;

/** The address, or null, which the column refuses, if it is reserved for another account. */
export const emailUnlessReserved = (email: string, accountId: string): SQL<string> =>
  sql<string>`iif(${isReserved(email, accountId)}, NULL, ${email})`;
