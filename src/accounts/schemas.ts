import * as z from 'zod';
import type { AccountRow, UserRow } from '../db/schema.ts';
import type { OpenBranch } from '../gate/rules/replies.ts';
import { email, text } from '../shared/schemas/fields.ts';
import { branchBody, movingTo, toBranch } from '../regions/schemas.ts';
import {
  MAX_ALLOWED_ORIGINS,
  MAX_NAME_LENGTH,
  MAX_PASSWORD_LENGTH,
  MIN_PASSWORD_LENGTH,
} from '../shared/rules/accounts.ts';
import { isoTime } from '../shared/rules/dates.ts';
import { effectivePlan, PLAN_NAMES } from '../shared/rules/plans.ts';
import { type Region, REGIONS } from '../shared/rules/regions.ts';
import type { NewSession } from '../auth/sessions.ts';
import type { Profile } from './user.ts';

export const newPassword = z.string().min(MIN_PASSWORD_LENGTH).max(MAX_PASSWORD_LENGTH);

/** A password to check. Its length says nothing about whether it's right. */
export const currentPassword = z.string().max(1_024);

export const registerInput = z
  .strictObject({
    email,
    password: newPassword,
    name: text(MAX_NAME_LENGTH).nullish(),
    home_region: z.enum(REGIONS).optional().meta({
      description:
        'Where verifies of this account are answered. Choose the region nearest to your application. By default, the region nearest to this request.',
    }),
  })
  .meta({ id: 'Register' });

export const loginInput = z
  .object({ email: z.string().trim().toLowerCase().max(320), password: currentPassword })
  .meta({ id: 'Login' });

const origin = z
  .string()
  .max(255)
  .refine(
    (text) => URL.parse(text)?.origin === text && /^https?:/.test(text),
    'must be an origin, such as https://example.com',
  );

export const patchAccountInput = z
  .strictObject({
    name: text(MAX_NAME_LENGTH).nullish(),
    allowed_origins: z.array(origin).max(MAX_ALLOWED_ORIGINS).optional().meta({
      description: 'Origins, besides this service, that a checkout may send the browser back to.',
    }),
  })
  .meta({ id: 'PatchAccount' });

export const accountBody = z
  .object({
    id: z.string().meta({ examples: ['acct_0VJ1mKq7XbT2c9LpQwZa'] }),
    email: z.string(),
    email_verified: z.boolean(),
    name: z.string().nullable(),
    plan: z.enum(PLAN_NAMES),
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
    moving_to: movingTo,
    branches: z.array(branchBody).meta({
      description:
        'The other regions that answer verifies now, near the callers there. They open and close by themselves.',
    }),
  })
  .meta({ id: 'AccountDetails' });

export const signedInBody = z
  .object({
    account: accountBody,
    session: z.object({
      token: z.string().meta({
        description:
          'The session token, for the header `Authorization: Bearer …`. Browsers also get it as a cookie.',
      }),
      expires_at: z.iso.datetime(),
    }),
  })
  .meta({ id: 'SignedIn' });

export const loggedOutBody = z.object({ logged_out: z.literal(true) }).meta({ id: 'LoggedOut' });

type VerifiedAccount = AccountRow & Pick<UserRow, 'emailVerifiedAt'>;

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
  moving_to: moveTo,
  branches: branches.map(toBranch),
});

export const toSignedIn = ({
  account,
  session,
}: {
  account: VerifiedAccount;
  session: NewSession;
}): z.infer<typeof signedInBody> => ({
  account: toAccount(account),
  session: { token: session.token, expires_at: isoTime(session.expiresAt) },
});
