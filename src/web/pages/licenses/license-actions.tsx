import { useRef, useState } from 'react';
import { api, call } from '../../data/client.ts';
import type { License } from '../../data/queries.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { tell, tellError } from '../../ui/toast.tsx';
import { EditLicense } from './edit-license.tsx';
import { useChangeLicense } from './keep-license.ts';
import { RenewLicense } from './renew-license.tsx';

type Open = 'edit' | 'renew' | 'suspend' | 'revoke';

/** What makes sense now. A license without a last day has nothing to renew; one that has run out, nothing to suspend. */
const offersOf = ({ status, expires_at }: License) => ({
  renew: status !== 'revoked' && expires_at !== null,
  pause: status === 'active' || status === 'suspended',
  revoke: status !== 'revoked',
});

const useTransitions = ({ id }: License) => {
  const change = useChangeLicense(id);
  const license = api.v1.licenses[':id'];
  const param = { id };
  return {
    suspend: async () => {
      await change(() => call(license.suspend.$post({ param })));
      tell('License suspended');
    },
    reinstate: async () => {
      await change(() => call(license.reinstate.$post({ param })));
      tell('License reinstated');
    },
    revoke: async () => {
      await change(() => call(license.revoke.$post({ param })));
      tell('License revoked');
    },
  };
};

/** One button for both, so that it keeps the focus when the one becomes the other. */
const Pause = ({
  isSuspended,
  onSuspend,
  onReinstate,
}: {
  isSuspended: boolean;
  onSuspend: () => void;
  onReinstate: () => Promise<void>;
}) => {
  const [isBusy, setBusy] = useState(false);
  const reinstate = async () => {
    setBusy(true);
    await onReinstate().catch(tellError);
    setBusy(false);
  };
  return (
    <Button size="sm" isBusy={isBusy} onClick={isSuspended ? () => void reinstate() : onSuspend}>
      {isSuspended ? 'Reinstate' : 'Suspend'}
    </Button>
  );
};

export const LicenseActions = ({ license }: { license: License }) => {
  const [open, setOpen] = useState<Open | null>(null);
  const { suspend, reinstate, revoke } = useTransitions(license);
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
      {offers.pause && (
        <Pause
          isSuspended={license.status === 'suspended'}
          onSuspend={() => setOpen('suspend')}
          onReinstate={reinstate}
        />
      )}
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
        onConfirm={suspend}
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
        onConfirm={revoke}
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
