import { useMutation } from '@tanstack/react-query';
import { Eye, EyeOff, RefreshCw } from 'lucide-react';
import { useState } from 'react';
import { OLD_SECRET_MS } from '../../../shared/rules/webhooks.ts';
import { rotateSecret } from '../../data/mutations.ts';
import { revealWebhook, type RevealedWebhook } from '../../data/webhook-queries.ts';
import { formatExact } from '../../lib/format.ts';
import { Button } from '../../ui/button.tsx';
import { Card, CardHeader } from '../../ui/card.tsx';
import { CopyIcon, Secret } from '../../ui/copy.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { FormError } from '../../ui/notice.tsx';
import { showToast } from '../../ui/toast.tsx';

const OLD_SECRET_HOURS = OLD_SECRET_MS / 3_600_000;

export const VerifyHint = () => (
  <p className="text-sm text-muted">
    Requests are signed according to{' '}
    <a
      href="https://www.standardwebhooks.com"
      target="_blank"
      rel="noreferrer"
      className="whitespace-nowrap text-ink underline decoration-line-strong underline-offset-4 hover:decoration-ink"
    >
      Standard Webhooks
    </a>
    . Pass this secret, the headers, and the raw body to one of its libraries. Learn more in the{' '}
    <a
      href="/docs/webhooks#verify-signatures"
      target="_blank"
      rel="noreferrer"
      className="whitespace-nowrap text-ink underline decoration-line-strong underline-offset-4 hover:decoration-ink"
    >
      guide to webhooks
    </a>
    .
  </p>
);

const Hidden = ({ id }: { id: string }) => (
  <div className="flex items-center gap-2 rounded-lg border border-line bg-sunken py-1.5 pr-1.5 pl-3">
    <code className="min-w-0 flex-1 truncate text-sm text-muted">
      whsec_<span aria-hidden>••••••••••••••••</span>
      <span className="sr-only">, hidden</span>
    </code>
    <CopyIcon text={async () => (await revealWebhook(id)).secret} what="signing secret" />
  </div>
);

interface RotateProps {
  id: string;
  isOpen: boolean;
  onClose: () => void;
  onRotated: (webhook: RevealedWebhook) => void;
}

const Rotate = ({ id, isOpen, onClose, onRotated }: RotateProps) => {
  const show = (webhook: RevealedWebhook) => {
    onRotated(webhook);
    showToast('Secret rotated');
  };
  return (
    <Confirm
      isOpen={isOpen}
      onClose={onClose}
      title="Rotate signing secret?"
      action="Rotate secret"
      write={rotateSecret(id)}
      onDone={show}
    >
      <p>
        For {OLD_SECRET_HOURS} hours, requests are signed with both the old and the new secret, so that you
        have time to update your receiver. After that only the new secret is used.
      </p>
      <p>
        If you already rotated the secret in the last {OLD_SECRET_HOURS} hours, each earlier secret keeps its
        own {OLD_SECRET_HOURS} hours.
      </p>
    </Confirm>
  );
};

/** The secret is fetched on request and kept only in the state of this card. */
export const SecretCard = ({ id }: { id: string }) => {
  const [shown, setShown] = useState<RevealedWebhook | null>(null);
  const [isRotating, setRotating] = useState(false);

  const reveal = useMutation({ mutationFn: () => revealWebhook(id), onSuccess: setShown });

  return (
    <Card aria-label="Signing secret">
      <CardHeader
        title="Signing secret"
        hint="Use it to verify that a request comes from Latchkey."
        actions={
          <>
            <Button
              size="sm"
              isBusy={reveal.isPending}
              onClick={() => (shown ? setShown(null) : reveal.mutate())}
            >
              {shown ? <EyeOff aria-hidden /> : <Eye aria-hidden />}
              {shown ? 'Hide' : 'Reveal'}
            </Button>
            <Button size="sm" onClick={() => setRotating(true)}>
              <RefreshCw aria-hidden />
              Rotate secret
            </Button>
          </>
        }
      />
      <div className="grid gap-3 px-5 pb-5">
        {shown ? (
          <Secret value={shown.secret} what="signing secret" isShownOnce={false} />
        ) : (
          <Hidden id={id} />
        )}
        {shown?.old_secret_expires_at && (
          <p className="text-sm">
            The previous secret also signs requests until{' '}
            <time dateTime={shown.old_secret_expires_at} className="nums font-medium">
              {formatExact(shown.old_secret_expires_at)}
            </time>
            .
          </p>
        )}
        <FormError error={reveal.error} />
        <VerifyHint />
      </div>
      <Rotate id={id} isOpen={isRotating} onClose={() => setRotating(false)} onRotated={setShown} />
    </Card>
  );
};
