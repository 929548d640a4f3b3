import { useRef, useState } from 'react';
import { canChangeExpiry, nextStatus } from '../../../shared/rules/licenses.ts';
import { reinstateLicense, revokeLicense, suspendLicense } from '../../data/license-mutations.ts';
import type { LicenseBody } from '../../data/queries.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { showToast } from '../../ui/toast.tsx';
import { EditLicense } from './edit-license.tsx';
import { MoreActions } from './more-actions.tsx';
import { ReasonField } from './reason-field.tsx';
import { RenewLicense } from './renew-license.tsx';

type Open = 'edit' | 'renew' | 'suspend' | 'reinstate' | 'revoke';

/** A license that never expires needs no renewal, and an expired license needs no suspension. */
const actionsOf = ({ status, expires_at }: LicenseBody) => {
  const stored = status === 'expired' ? 'active' : status;
  return {
    renew: canChangeExpiry(status) && expires_at !== null,
    suspendOrReinstate:
      status !== 'expired' && (nextStatus(stored, 'suspend') ?? nextStatus(stored, 'reinstate')) !== null,
    revoke: nextStatus(stored, 'revoke') !== null,
  };
};

export const LicenseActions = ({ license }: { license: LicenseBody }) => {
  const [open, setOpen] = useState<Open | null>(null);
  const actions = actionsOf(license);
  const isSuspended = license.status === 'suspended';
  const [reason, setReason] = useState('');
  const close = () => {
    setOpen(null);
    setReason('');
  };
  const field = <ReasonField value={reason} onChange={(event) => setReason(event.currentTarget.value)} />;
  const edit = useRef<HTMLButtonElement>(null);
  const revokeButton = useRef<HTMLButtonElement>(null);
  return (
    <>
      <Button ref={edit} size="sm" onClick={() => setOpen('edit')}>
        Edit
      </Button>
      {actions.renew && (
        <Button size="sm" onClick={() => setOpen('renew')}>
          Renew
        </Button>
      )}
      {actions.suspendOrReinstate && (
        // One button for both, so that it keeps the focus when its action changes.
        <Button size="sm" onClick={() => setOpen(isSuspended ? 'reinstate' : 'suspend')}>
          {isSuspended ? 'Reinstate' : 'Suspend'}
        </Button>
      )}
      {actions.revoke && (
        <Button ref={revokeButton} size="sm" variant="danger-outline" onClick={() => setOpen('revoke')}>
          Revoke
        </Button>
      )}
      <MoreActions license={license} />
      <EditLicense license={license} isOpen={open === 'edit'} onClose={close} />
      <RenewLicense license={license} isOpen={open === 'renew'} onClose={close} />
      <Confirm
        isOpen={open === 'suspend'}
        onClose={close}
        title="Suspend this license?"
        action="Suspend license"
        field={field}
        write={suspendLicense(license.id, reason)}
        onDone={() => showToast('License suspended')}
      >
        <p>
          Verify calls report that <code className="text-ink break-all">{license.license_key}</code> isn’t
          valid. You can reinstate it at any time.
        </p>
      </Confirm>
      <Confirm
        isOpen={open === 'reinstate'}
        onClose={close}
        title="Reinstate this license?"
        action="Reinstate license"
        field={field}
        write={reinstateLicense(license.id, reason)}
        onDone={() => showToast('License reinstated')}
      >
        <p>
          Verify calls report that <code className="text-ink break-all">{license.license_key}</code> is valid
          again.
        </p>
      </Confirm>
      <Confirm
        isOpen={open === 'revoke'}
        onClose={close}
        title="Revoke this license?"
        action="Revoke license"
        isDangerous
        field={field}
        write={revokeLicense(license.id, reason)}
        onDone={() => showToast('License revoked')}
        focusAfter={() => revokeButton.current ?? edit.current}
      >
        <p>
          Verify calls report that <code className="text-ink break-all">{license.license_key}</code> isn’t
          valid. A revoked license can’t be reinstated or renewed.
        </p>
        {license.status === 'active' && <p>To stop it temporarily, suspend it instead.</p>}
      </Confirm>
    </>
  );
};
