import * as z from 'zod';
import { accountBody, toAccount, type VerifiedAccount } from '../accounts/schemas.ts';
import type { NewSession } from '../sessions/sessions.ts';
import { MAX_NAME_LENGTH } from '../shared/rules/accounts.ts';
import { isoTime } from '../shared/rules/dates.ts';
import { REGIONS } from '../shared/rules/regions.ts';
import { email, emailToFind, text } from '../shared/schemas/fields.ts';
import { code } from '../two-factor/schemas.ts';
import { currentPassword, newPassword } from '../users/schemas.ts';

export const registerInput = z
  .strictObject({
    email,
    password: newPassword,
    name: text(MAX_NAME_LENGTH).nullish(),
    home_region: z.enum(REGIONS).optional().meta({
      description:
        'Where verifies of this account are answered. Choose the region nearest to your application. By default, the region nearest to this request.',
    }),
    invitation: z.string().max(256).optional().meta({
      description: 'The token of the operator’s link, if the service requires an invitation.',
    }),
  })
  .meta({ id: 'Register' });

export const loginInput = z.object({ email: emailToFind, password: currentPassword }).meta({ id: 'Login' });

export const twoFactorLoginInput = z
  .strictObject({
    challenge: z
      .string()
      .max(256)
      .meta({ description: 'The challenge in the details of the login’s error.' }),
    code,
  })
  .meta({ id: 'TwoFactorLogin' });

export const reauthenticateInput = z
  .union([z.strictObject({ password: currentPassword }), z.strictObject({ code })])
  .meta({ id: 'Reauthenticate' });

export type SessionProof = z.output<typeof reauthenticateInput>;

export const reauthenticatedBody = z
  .object({
    proved_until: z.iso
      .datetime()
      .meta({ description: 'Until when calls that require a proof are accepted.' }),
  })
  .meta({ id: 'Reauthenticated' });

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
