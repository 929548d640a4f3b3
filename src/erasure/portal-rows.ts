import { and, eq, or } from 'drizzle-orm';
import type { Ctx } from '../db/ctx.ts';
import { portalEmailChanges, portalSessions, portalTokens } from '../db/schema.ts';

/** Ends a customer's sessions, links, and codes in the portal, and what is under way to change their address. */
export const erasePortalRows = ({ db, accountId }: Ctx, email: string) =>
  db.batch([
    db
      .delete(portalSessions)
      .where(and(eq(portalSessions.accountId, accountId), eq(portalSessions.email, email))),
    db.delete(portalTokens).where(and(eq(portalTokens.accountId, accountId), eq(portalTokens.email, email))),
    db
      .delete(portalEmailChanges)
      .where(
        and(
          eq(portalEmailChanges.accountId, accountId),
          or(eq(portalEmailChanges.email, email), eq(portalEmailChanges.newEmail, email)),
        ),
      ),
  ]);
