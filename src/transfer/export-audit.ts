import { and, asc, eq, gt } from 'drizzle-orm';
import { toAuditEntry } from '../audit/schemas.ts';
import { type AccountDatabase, type FirstDatabase, firstDatabase } from '../db/client.ts';
import type { Ctx } from '../db/ctx.ts';
import { auditLog, type AuditRow } from '../db/schema.ts';

const AUDIT_PAGE = 1_000;

const toAuditLine = (row: AuditRow) => ({ type: 'audit' as const, ...toAuditEntry(row) });

async function* pagesIn(db: AccountDatabase | FirstDatabase, accountId: string) {
  let last = '';
  for (;;) {
    const rows = await db
      .select()
      .from(auditLog)
      .where(and(eq(auditLog.accountId, accountId), gt(auditLog.id, last)))
      .orderBy(asc(auditLog.id))
      .limit(AUDIT_PAGE);
    yield rows.map(toAuditLine);
    if (rows.length < AUDIT_PAGE) return;
    last = rows.at(-1)?.id ?? last;
  }
}

/** The first database has the entries about signing in, and the account's own database all others. */
export async function* exportAudit({ env, db, accountId }: Ctx) {
  const databases = new Set<AccountDatabase | FirstDatabase>([firstDatabase(env), db]);
  for (const each of databases) yield* pagesIn(each, accountId);
}
