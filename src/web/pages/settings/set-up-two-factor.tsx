import { useMutation, useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { encode } from 'uqr';
import { confirmTwoFactor, startTwoFactor } from '../../data/access-mutations.ts';
import { Secret } from '../../ui/copy.tsx';
import { Dialog, FormActions } from '../../ui/dialog.tsx';
import { Form, TextField } from '../../ui/form.tsx';
import { LoadError } from '../../ui/notice.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { RecoveryCodes } from './recovery-codes.tsx';

/** Modules of white around the code, which scanners need. */
const BORDER = 4;

/** A QR code. It is dark on white in both themes, because some scanners can't read others. */
const QrCode = ({ text, label }: { text: string; label: string }) => {
  const { size, path } = useMemo(() => {
    const code = encode(text, { border: BORDER });
    const modules = code.data.flatMap((row, y) =>
      row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])),
    );
    return { size: code.size, path: modules.join('') };
  }, [text]);
  return (
    <svg
      viewBox={`0 0 ${size} ${size}`}
      role="img"
      aria-label={label}
      shapeRendering="crispEdges"
      className="size-44 shrink-0 rounded-lg border border-line"
    >
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  );
};

const SetUp = ({ onConfirmed, onClose }: { onConfirmed: (codes: string[]) => void; onClose: () => void }) => {
  const setUp = useQuery(startTwoFactor);
  const confirm = useMutation({
    ...confirmTwoFactor,
    onSuccess: ({ recovery_codes }) => onConfirmed(recovery_codes),
  });
  if (setUp.isError) return <LoadError error={setUp.error} onRetry={() => void setUp.refetch()} />;
  return (
    <Form write={confirm} onSend={({ code = '' }) => confirm.mutate(code.replaceAll(/\s/g, ''))}>
      <div className="flex flex-wrap items-start gap-4">
        {setUp.data ? (
          <QrCode text={setUp.data.otpauth_url} label="QR code for the authenticator app" />
        ) : (
          <Skeleton className="size-44" />
        )}
        <div className="grid min-w-48 flex-1 gap-3 text-sm">
          <p>Scan the code with an authenticator app. If you can’t, type this secret into the app:</p>
          {setUp.data ? (
            <Secret value={setUp.data.secret} what="secret" isShownOnce={false} />
          ) : (
            <Skeleton className="h-16" />
          )}
        </div>
      </div>
      <TextField
        label="Code that the app shows"
        name="code"
        inputMode="numeric"
        autoComplete="one-time-code"
        maxLength={10}
        required
        className="nums"
      />
      <FormActions onCancel={onClose} isBusy={confirm.isPending}>
        Turn on
      </FormActions>
    </Form>
  );
};

/** Turns two-factor authentication on, and then shows the recovery codes. */
export const SetUpTwoFactor = ({
  isOpen,
  onClose,
  focusAfter,
}: {
  isOpen: boolean;
  onClose: () => void;
  focusAfter: () => HTMLElement | null;
}) => {
  const [codes, setCodes] = useState<string[] | null>(null);
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      onClosed={() => setCodes(null)}
      focusAfter={focusAfter}
      title={codes ? 'Save your recovery codes' : 'Set up two-factor authentication'}
    >
      {codes ? (
        <RecoveryCodes codes={codes} onDone={onClose} />
      ) : (
        <SetUp onConfirmed={setCodes} onClose={onClose} />
      )}
    </Dialog>
  );
};
