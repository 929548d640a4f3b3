import { and, desc, eq, isNull } from 'drizzle-orm';
import type * as z from 'zod';
import { apiKeys, licenses } from '../db/schema.ts';
import type { Ctx } from '../db/ctx.ts';
import { EVENT_NAMES } from '../shared/rules/events.ts';
import { getProgress } from './progress.ts';
import type { onboardingBody } from './schemas.ts';
import { EXAMPLE_LICENSE_KEY, KEY_PLACEHOLDER, snippets } from './snippets.ts';

const findNewest = async ({ db, accountId }: Ctx) => {
  const [[key], [license]] = await db.batch([
    db
      .select({ masked: apiKeys.maskedKey })
      .from(apiKeys)
      .where(and(eq(apiKeys.accountId, accountId), isNull(apiKeys.deletedAt)))
      .orderBy(desc(apiKeys.id))
      .limit(1),
    db
      .select({ licenseKey: licenses.licenseKey })
      .from(licenses)
      .where(eq(licenses.accountId, accountId))
      .orderBy(desc(licenses.id))
      .limit(1),
  ]);
  return { maskedKey: key?.masked ?? null, licenseKey: license?.licenseKey ?? EXAMPLE_LICENSE_KEY };
};

export const getOnboarding = async (ctx: Ctx, origin: string): Promise<z.infer<typeof onboardingBody>> => {
  const [{ maskedKey, licenseKey }, progress] = await Promise.all([findNewest(ctx), getProgress(ctx)]);
  const baseUrl = `${origin}/api/v1/`;
  return {
    base_url: baseUrl,
    api_key: maskedKey,
    next_step: progress.steps.find(({ done }) => !done)?.id ?? null,
    snippets: snippets(baseUrl, licenseKey),
    license_key: licenseKey,
    key_placeholder: KEY_PLACEHOLDER,
    webhook_events: [...EVENT_NAMES],
  };
};
