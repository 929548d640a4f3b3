import * as z from 'zod';
import { accountDetailsBody } from '../accounts/schemas.ts';
import { isoTime } from '../shared/rules/dates.ts';
import { EVENT_NAMES, TEST_EVENT } from '../shared/rules/events.ts';
import type { LicenseStatus } from '../shared/rules/licenses.ts';
import { type WebhookEvent } from '../shared/text/events.ts';

const count = z.int().min(0);

const recentEvent = z.object({
  id: z.string(),
  event: z.enum([...EVENT_NAMES, TEST_EVENT]),
  created_at: z.iso.datetime(),
  payload: z.record(z.string(), z.unknown()),
});

export const toRecentEvent = (event: WebhookEvent): z.infer<typeof recentEvent> => ({
  id: event.id,
  event: event.name,
  created_at: isoTime(event.createdAtMs),
  payload: JSON.parse(event.payload),
});

export const dashboardBody = z
  .object({
    account: accountDetailsBody,
    usage: z.object({
      api_usage: count,
      api_limit: count,
      period_start: z.iso.datetime(),
      period_end: z.iso.datetime(),
    }),
    usage_by_day: z
      .array(z.object({ date: z.iso.date(), verify: count, create: count }))
      .length(30)
      .meta({ description: 'Calls per day over the last 30 days (UTC). The last entry is today.' }),
    usage_by_product: z
      .array(z.object({ product: z.string(), name: z.string().nullable(), calls: count }))
      .optional()
      .meta({
        description:
          'Calls of applications (verify and activate) in this period: the ten products with the most calls. Absent if the account has no products.',
      }),
    licenses: z.object({
      total: count,
      active: count,
      expired: count,
      suspended: count,
      revoked: count,
    } satisfies Record<LicenseStatus | 'total', typeof count>),
    api_keys: z.object({ total: count }),
    storage: z.object({ used: count, limit: count }).meta({
      description:
        'Bytes of everything that the account stores in the database, with its indexes. Beyond the limit, what would add to it answers 403 storage_limit_reached. An account whose email address was never verified has a tenth of it.',
    }),
    webhooks: z.object({ endpoints: count, delivered_24h: count, failed_24h: count }).meta({
      description: 'The number of endpoints, and of successful and failed attempts in the last 24 hours.',
    }),
    recent_events: z.array(recentEvent).meta({ description: 'The latest ten events.' }),
  })
  .meta({ id: 'Dashboard' });

export const STEPS = [
  ['create_account', 'Create your account'],
  ['create_product', 'Create a product'],
  ['create_api_key', 'Create an API key'],
  ['create_license', 'Create your first license'],
  ['verify_license', 'Verify a license'],
  ['add_webhook', 'Add a webhook'],
  ['choose_plan', 'Choose a plan'],
] as const;

export type StepId = (typeof STEPS)[number][0];

const stepId = z.enum(STEPS.map(([id]) => id));

export const progressBody = z
  .object({
    steps: z.array(
      z.object({
        id: stepId,
        title: z.string(),
        done: z.boolean(),
        done_at: z.iso.datetime().nullable(),
      }),
    ),
    completed: count,
    total: count,
  })
  .meta({ id: 'DeveloperProgress' });

export const onboardingBody = z
  .object({
    base_url: z.string(),
    api_key: z.string().nullable().meta({ description: 'The newest API key, masked.' }),
    next_step: stepId
      .nullable()
      .meta({ description: 'The first step that isn’t done, or null if all are done.' }),
    snippets: z.object({ curl: z.string(), javascript: z.string(), python: z.string() }),
    license_key: z
      .string()
      .meta({ description: 'The license key in the snippets: a sample license’s, or an example.' }),
    license_id: z.string().nullable().meta({
      description:
        'The sample license: one of the account’s own email address whose metadata has `sample: true`, or null.',
    }),
    key_placeholder: z.string().meta({ description: 'Stands for the API key in the snippets.' }),
    webhook_events: z.array(z.string()),
  })
  .meta({ id: 'Onboarding' });
