import { and, desc, eq, isNull } from 'drizzle-orm';
import type * as z from 'zod';
import type { Ctx } from '../db/ctx.ts';
import { apiKeys, licenses } from '../db/schema.ts';
import { EVENT_NAMES } from '../shared/rules/events.ts';
import { getProgress } from './progress.ts';
import type { onboardingBody } from './schemas.ts';

/** Stands for the API key in each snippet. */
const KEY_PLACEHOLDER = 'YOUR_API_KEY';

/** For accounts without a license. No license has this key, so verifying it returns `not_found`. */
const EXAMPLE_LICENSE_KEY = '7K3QD-9WZXA-M2RTB-H5NVE-40GPW';

const snippets = (baseUrl: string, licenseKey: string) => {
  const url = `${baseUrl}licenses/verify`;
  const body = JSON.stringify({ license_key: licenseKey });
  return {
    curl: [
      `curl -X POST ${url} \\`,
      `  -H 'x-api-key: ${KEY_PLACEHOLDER}' \\`,
      `  -H 'content-type: application/json' \\`,
      `  -d '${body}'`,
    ].join('\n'),
    javascript: [
      `const response = await fetch('${url}', {`,
      `  method: 'POST',`,
      `  headers: { 'x-api-key': '${KEY_PLACEHOLDER}', 'content-type': 'application/json' },`,
      `  body: JSON.stringify(${body}),`,
      `});`,
      `const license = await response.json();`,
      `console.log(license.valid, license.status);`,
    ].join('\n'),
    python: [
      `import json`,
      `import urllib.request`,
      ``,
      `request = urllib.request.Request(`,
      `    "${url}",`,
      `    data=json.dumps(${body}).encode(),`,
      `    headers={"x-api-key": "${KEY_PLACEHOLDER}", "content-type": "application/json"},`,
      `)`,
      `with urllib.request.urlopen(request) as response:`,
      `    license = json.load(response)`,
      `print(license["valid"], license["status"])`,
    ].join('\n'),
  };
};

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
