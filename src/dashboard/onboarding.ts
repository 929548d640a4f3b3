import { and, asc, desc, eq, isNull, sql } from 'drizzle-orm';
import type * as z from 'zod';
import type { Ctx } from '../db/ctx.ts';
import { accounts, apiKeys, licenses } from '../db/schema.ts';
import { EVENT_NAMES } from '../shared/rules/events.ts';
import { EXAMPLE_LICENSE_KEY } from '../shared/rules/license-key.ts';
import { SAMPLE } from '../shared/rules/licenses.ts';
import { getProgress } from './progress.ts';
import type { onboardingBody } from './schemas.ts';

/** Stands for the API key in each snippet. */
const KEY_PLACEHOLDER = 'YOUR_API_KEY';

/** A sample is among the first licenses that an account gives itself. */
const MAX_LOOKED_AT = 100;

const MACHINE = { fingerprint: 'my-first-machine', name: 'My first machine' };

const snippets = (baseUrl: string, licenseKey: string) => {
  const url = `${baseUrl}licenses/activate`;
  const body = JSON.stringify({ license_key: licenseKey, ...MACHINE });
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

/** The newest API key, and a license that the first steps have made. A customer's license is none of the snippets' business. */
const findOwn = async ({ db, accountId }: Ctx) => {
  const email = sql`(SELECT lower(email) FROM accounts WHERE ${accounts.id} = ${accountId})`;
  const first = db
    .select({ id: licenses.id, licenseKey: licenses.licenseKey, metadata: licenses.metadata })
    .from(licenses)
    .where(and(eq(licenses.accountId, accountId), sql`lower(${licenses.customerEmail}) = ${email}`))
    .orderBy(asc(licenses.seq))
    .limit(MAX_LOOKED_AT)
    .as('first');
  const [[key], [license]] = await db.batch([
    db
      .select({ masked: apiKeys.maskedKey })
      .from(apiKeys)
      .where(and(eq(apiKeys.accountId, accountId), isNull(apiKeys.deletedAt)))
      .orderBy(desc(apiKeys.id))
      .limit(1),
    db
      .select({ id: first.id, licenseKey: first.licenseKey })
      .from(first)
      .where(sql`${first.metadata} ->> ${SAMPLE} = 1`)
      .limit(1),
  ]);
  return { maskedKey: key?.masked ?? null, license: license ?? null };
};

export const getOnboarding = async (ctx: Ctx, origin: string): Promise<z.infer<typeof onboardingBody>> => {
  const [{ maskedKey, license }, progress] = await Promise.all([findOwn(ctx), getProgress(ctx)]);
  const licenseKey = license?.licenseKey ?? EXAMPLE_LICENSE_KEY;
  const baseUrl = `${origin}/api/v1/`;
  return {
    base_url: baseUrl,
    api_key: maskedKey,
    next_step: progress.steps.find(({ done }) => !done)?.id ?? null,
    snippets: snippets(baseUrl, licenseKey),
    license_key: licenseKey,
    license_id: license?.id ?? null,
    key_placeholder: KEY_PLACEHOLDER,
    webhook_events: [...EVENT_NAMES],
  };
};
