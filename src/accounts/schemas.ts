import * as z from 'zod';
import type { LimitedAccount } from '../db/account.ts';
import type { UserRow } from '../db/schema.ts';
import type { OpenBranch } from '../gate/rules/traffic.ts';
import { branchBody, movingTo, toBranch } from '../regions/schemas.ts';
import { MAX_ALLOWED_ORIGINS, MAX_NAME_LENGTH } from '../shared/rules/accounts.ts';
import { isoTime, isoTimeOrNull } from '../shared/rules/dates.ts';
import { MAIL_TOPICS } from '../shared/rules/mail-topics.ts';
import { effectivePlan, ACCOUNT_PLANS } from '../shared/rules/plans.ts';
import { type Region, REGIONS } from '../shared/rules/regions.ts';
import { text } from '../shared/schemas/fields.ts';
import type { Profile } from './profile.ts';

const origin = z
  .string()
  .max(255)
  .refine(
    (text) => URL.parse(text)?.origin === text && /^https?:/.test(text),
    'must be an origin, such as https://example.com',
  );

const mutedEmails = z.array(z.enum(MAIL_TOPICS)).max(MAIL_TOPICS.length).meta({
  description: 'What the owner wants no emails about. Emails about security are always sent.',
});

export const patchAccountInput = z
  .strictObject({
    name: text(MAX_NAME_LENGTH).nullish(),
    allowed_origins: z.array(origin).max(MAX_ALLOWED_ORIGINS).optional().meta({
      description: 'Origins, besides this service, that a checkout may send the browser back to.',
    }),
    muted_emails: mutedEmails.optional(),
  })
  .meta({ id: 'PatchAccount' });

export const accountBody = z
  .object({
    id: z.string().meta({ examples: ['acct_0VJ1mKq7XbT2c9LpQwZa'] }),
    email: z.string(),
    email_verified: z.boolean(),
    name: z.string().nullable(),
    plan: z.enum(ACCOUNT_PLANS).meta({
      description: '`own` if the service sells no plans.',
    }),
    home_region: z.enum(REGIONS).nullable().meta({
      description: 'Where verifies of this account are answered. Null if the account has no chosen region.',
    }),
    created_at: z.iso.datetime(),
  })
  .meta({ id: 'Account' });

export const accountDetailsBody = accountBody
  .extend({
    pending_email: z.string().nullable().meta({
      description: 'The email address that becomes the account’s once it is confirmed.',
    }),
    two_factor: z.boolean().meta({ description: 'Whether a login also requires a code.' }),
    two_factor_reset_at: z.iso.datetime().nullable().meta({
      description:
        'When logins stop requiring a code, because the operator of the service was asked for that. Any code that is used before then stops it.',
    }),
    muted_emails: mutedEmails,
    moving_to: movingTo,
    branches: z.array(branchBody).meta({
      description:
        'The other regions that answer verifies now, near the callers there. They open and close by themselves.',
    }),
  })
  .meta({ id: 'AccountDetails' });

export type VerifiedAccount = LimitedAccount & Pick<UserRow, 'emailVerifiedAt'>;

export const toAccount = (row: VerifiedAccount): z.infer<typeof accountBody> => ({
  id: row.id,
  email: row.email,
  email_verified: row.emailVerifiedAt !== null,
  name: row.name,
  plan: effectivePlan(row, Date.now()),
  home_region: row.homeRegion,
  created_at: isoTime(row.createdAt),
});

export const toAccountDetails = (
  row: Profile,
  branches: OpenBranch[],
  moveTo: Region | null,
): z.infer<typeof accountDetailsBody> => ({
  ...toAccount(row),
  pending_email: row.pendingEmail,
  two_factor: row.twoFactor,
  two_factor_reset_at: isoTimeOrNull(row.twoFactorResetAt),
  muted_emails: row.mutedEmails,
  moving_to: moveTo,
  branches: branches.map(toBranch),
});
