import { useMutation } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { reinstateLicense, revokeLicense, suspendLicense } from '../../data/mutations.ts';
import type { License } from '../../data/queries.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { tell, tellError } from '../../ui/toast.tsx';
import { EditLicense } from './edit-license.tsx';
import { RenewLicense } from './renew-license.tsx';

type Open = 'edit' | 'renew' | 'suspend' | 'revoke';

/** What makes sense now. A license without a last day has nothing to renew; one that has run out, nothing to suspend. */
const offersOf = ({ status, expires_at }: License) => ({
  renew: status !== 'revoked' && expires_at !== null,
  pause: status === 'active' || status === 'suspended',
  revoke: status !== 'revoked',
});

/** One button for both, so that it keeps the focus when its action changes. */
const SuspendOrReinstate = ({ license, onSuspend }: { license: License; onSuspend: () => void }) => {
  const reinstate = useMutation({
    ...reinstateLicense(license.id),
    onSuccess: () => tell('License reinstated'),
    onError: tellError,
  });
  const isSuspended = license.status === 'suspended';
  return (
    <Button
      size="sm"
      isBusy={reinstate.isPending}
      onClick={isSuspended ? () => reinstate.mutate() : onSuspend}
    >
      {isSuspended ? 'Reinstate' : 'Suspend'}
    </Button>
  );
};

export const LicenseActions = ({ license }: { license: License }) => {
  const [open, setOpen] = useState<Open | null>(null);
  const offers = offersOf(license);
  const close = () => setOpen(null);
  const edit = useRef<HTMLButtonElement>(null);
  const revokeButton = useRef<HTMLButtonElement>(null);
  return (
    <>
      <Button ref={edit} size="sm" onClick={() => setOpen('edit')}>
        Edit
      </Button>
      {offers.renew && (
        <Button size="sm" onClick={() => setOpen('renew')}>
          Renew
        </Button>
      )}
      {offers.pause && <SuspendOrReinstate license={license} onSuspend={() => setOpen('suspend')} />}
      {offers.revoke && (
        <Button ref={revokeButton} size="sm" variant="danger-outline" onClick={() => setOpen('revoke')}>
          Revoke
        </Button>
      )}
      <EditLicense license={license} isOpen={open === 'edit'} onClose={close} />
      <RenewLicense license={license} isOpen={open === 'renew'} onClose={close} />
      <Confirm
        isOpen={open === 'suspend'}
        onClose={close}
        title="Suspend this license?"
        action="Suspend license"
        write={suspendLicense(license.id)}
        onDone={() => tell('License suspended')}
      >
        <p>
          From the next verify on, <code className="text-ink break-all">{license.license_key}</code> is not
          valid. You can reinstate it at any time.
        </p>
      </Confirm>
      <Confirm
        isOpen={open === 'revoke'}
        onClose={close}
        title="Revoke this license?"
        action="Revoke license"
        isDangerous
        write={revokeLicense(license.id)}
        onDone={() => tell('License revoked')}
        focusAfter={() => revokeButton.current ?? edit.current}
      >
        <p>
          From the next verify on, <code className="text-ink break-all">{license.license_key}</code> is not
          valid, for good: it can’t be reinstated or renewed.
        </p>
        {license.status === 'active' && <p>To stop it for a while only, suspend it.</p>}
      </Confirm>
    </>
  );
};
