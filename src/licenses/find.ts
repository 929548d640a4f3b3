import { and, eq } from 'drizzle-orm';
import type { Ctx } from '../db/ctx.ts';
import { licenses, type LicenseRow } from '../db/schema.ts';
import { AppError } from '../shared/app-error.ts';

export const findLicense = async (
  { db, accountId }: Ctx,
  id: string,
  missing = () => new AppError('license_not_found'),
): Promise<LicenseRow> => {
  const [row] = await db
    .select()
    .from(licenses)
    .where(and(eq(licenses.accountId, accountId), eq(licenses.id, id)));
  if (!row) throw missing();
  return row;
};
