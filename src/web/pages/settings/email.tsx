import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { MAX_EMAIL_LENGTH } from '../../../shared/rules/accounts.ts';
import { changeEmail, resendVerification } from '../../data/access-mutations.ts';
import type { Account } from '../../data/queries.ts';
import { StateBadge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Card, CardHeader } from '../../ui/card.tsx';
import { Dialog, FormActions } from '../../ui/dialog.tsx';
import { Drafted, useDraft } from '../../ui/draft.tsx';
import { Form, TextField } from '../../ui/form.tsx';
import { FormError } from '../../ui/notice.tsx';
import { MailPreview, useHasMail } from '../sign-in/mail-preview.tsx';

const ChangeForm = ({ onChanged, onClose }: { onChanged: () => void; onClose: () => void }) => {
  const change = useMutation({ ...changeEmail, onSuccess: onChanged });
  const send = ({ email = '', current_password = '' }: Record<string, string>) =>
    change.mutate({ email, current_password }, { onSuccess: onClose });
  return (
    <Form write={change} onSend={send} draft={useDraft()}>
      <TextField
        label="New email address"
        name="email"
        type="email"
        autoComplete="email"
        maxLength={MAX_EMAIL_LENGTH}
        required
      />
      <TextField
        label="Your password"
        name="current_password"
        type="password"
        autoComplete="current-password"
        required
      />
      <FormActions onCancel={onClose} isBusy={change.isPending}>
        Change email address
      </FormActions>
    </Form>
  );
};

export const EmailCard = ({ account }: { account: Account }) => {
  const hasMail = useHasMail();
  const [isChanging, setChanging] = useState(false);
  const [isSent, setSent] = useState(false);
  const resend = useMutation({ ...resendVerification, onSuccess: () => setSent(true) });
  const { email, email_verified: isVerified, pending_email: pending } = account;
  return (
    <Card aria-label="Email address">
      <CardHeader
        title="Email address"
        hint="You sign in with it, and it gets the emails about your account."
        actions={
          hasMail && (
            <>
              {!isVerified && (
                <Button size="sm" isBusy={resend.isPending} onClick={() => resend.mutate()}>
                  Send verification email
                </Button>
              )}
              <Button size="sm" onClick={() => setChanging(true)}>
                Change
              </Button>
            </>
          )
        }
      />
      <div className="grid gap-3 px-5 pb-5">
        <p className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <span className="min-w-0 break-all">{email}</span>
          {hasMail &&
            (isVerified ? (
              <StateBadge tone="good">Verified</StateBadge>
            ) : (
              <StateBadge tone="warn">Not verified</StateBadge>
            ))}
        </p>
        {pending !== null && (
          <p className="text-muted">
            Changes to <span className="break-all text-ink">{pending}</span> once you open the link in the
            email sent to this address.
          </p>
        )}
        <div role="status" className="empty:-mt-3">
          {isSent && (
            <p>
              The email is on its way. Open the link in it to verify the address. Until then, this account
              sends two emails a day at most.
            </p>
          )}
        </div>
        {(isSent || pending !== null) && <MailPreview />}
        <FormError error={resend.error} />
      </div>
      <Dialog
        isOpen={isChanging}
        onClose={() => setChanging(false)}
        title="Change email address"
        hint="The new address gets an email with a link, and takes effect when you open that link."
      >
        <Drafted name="change-email">
          <ChangeForm onChanged={() => setSent(false)} onClose={() => setChanging(false)} />
        </Drafted>
      </Dialog>
    </Card>
  );
};
