import { and, eq, type SQL } from 'drizzle-orm';
import type { BatchItem } from 'drizzle-orm/batch';
import type { DatabaseCtx } from '../db/ctx.ts';
import { accounts, subscriptions } from '../db/schema.ts';
import type { FeedChange } from '../gate/feed/write.ts';
import type { AuditAction, AuditDetails } from '../shared/rules/audit.ts';
import type { ProviderName } from './provider.ts';

/** What a fact changes. */
export interface Effect {
  accountId: string;
  /** A call to the provider. It runs before the commit, so that on failure the notification is sent again. */
  beforeCommit?: () => Promise<void>;
  /** What must still be true in the commit, or else the effect is computed again. */
  condition?: SQL;
  statements: BatchItem<'sqlite'>[];
  changes: FeedChange[];
  /** For the audit log. */
  entry: { action: AuditAction; target: string; details?: AuditDetails };
}

export const findSubscription = async ({ db }: DatabaseCtx, provider: ProviderName, ref: string) => {
  const [row] = await db
    .select()
    .from(subscriptions)
    .where(and(eq(subscriptions.provider, provider), eq(subscriptions.providerRef, ref)));
  return row ?? null;
};

/** Returns the email address for the events of an account. */
export const getEmail = async ({ db }: DatabaseCtx, accountId: string): Promise<string> => {
  const [account] = await db
    .select({ email: accounts.email })
    .from(accounts)
    .where(eq(accounts.id, accountId));
  return account?.email ?? '';
};
