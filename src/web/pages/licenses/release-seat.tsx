import { useState } from 'react';
import { ApiError } from '../../data/error.ts';
import { releaseSeat } from '../../data/license-mutations.ts';
import type { Activation } from '../../data/queries.ts';
import { Confirm } from '../../ui/dialog.tsx';
import { showToast } from '../../ui/toast.tsx';

/** Asks before it releases a seat, and once more if an offline file holds it. */
export const ReleaseSeat = ({
  licenseId,
  machine,
  isOpen,
  onClose,
}: {
  licenseId: string;
  machine: Activation;
  isOpen: boolean;
  onClose: () => void;
}) => {
  const [isHeld, setHeld] = useState(false);
  const close = () => {
    setHeld(false);
    onClose();
  };
  return (
    <Confirm
      isOpen={isOpen}
      onClose={close}
      title={`Release the seat of ${machine.name ?? 'this machine'}?`}
      action={isHeld ? 'Release anyway' : 'Release seat'}
      isDangerous
      write={{
        ...releaseSeat(licenseId, machine.id, isHeld),
        onError: (error) => setHeld(error instanceof ApiError && error.code === 'invalid_transition'),
      }}
      onDone={() => showToast('Seat released')}
    >
      <p>
        Another machine can take the seat at once. This machine has to activate again, and needs a free seat
        to do so.
      </p>
    </Confirm>
  );
};
