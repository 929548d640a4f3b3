import { MonitorX } from 'lucide-react';
import { useState } from 'react';
import { ApiError } from '../../data/error.ts';
import { releaseSeat } from '../../data/license-mutations.ts';
import type { ActivationBody } from '../../data/queries.ts';
import { IconButton } from '../../ui/button.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { Td, Th, Tr } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { showToast } from '../../ui/toast.tsx';

/** Asks before it releases a seat, and once more if an offline file holds it. */
const ReleaseSeat = ({
  licenseId,
  machine,
  isOpen,
  onClose,
}: {
  licenseId: string;
  machine: ActivationBody;
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

const WIDE = 'max-sm:hidden';

export const SEAT_HEAD = (
  <>
    <Th>Machine</Th>
    <Th className={WIDE}>Seat taken</Th>
    <Th>Last seen</Th>
    <Th className={WIDE}>Lease ends</Th>
    <Th>
      <span className="sr-only">Actions</span>
    </Th>
  </>
);

export const SeatRow = ({ licenseId, machine }: { licenseId: string; machine: ActivationBody }) => {
  const [isReleasing, setReleasing] = useState(false);
  const name = machine.name ?? machine.fingerprint;
  const details = [machine.platform, machine.app_version].filter((text) => text !== null).join(' · ');
  return (
    <Tr>
      <Td className="w-full max-w-0">
        <span className="block truncate font-medium">{name}</span>
        {details && <span className="block truncate text-xs text-muted">{details}</span>}
        {machine.name !== null && (
          <code className="block truncate text-xs text-muted">{machine.fingerprint}</code>
        )}
      </Td>
      <Td className={WIDE}>
        <Time at={machine.activated_at} />
      </Td>
      <Td>
        <Time at={machine.last_seen_at} />
      </Td>
      <Td className={WIDE}>
        {machine.lease_until ? (
          <Time at={machine.lease_until} />
        ) : (
          <span className="whitespace-nowrap text-muted">Until released</span>
        )}
      </Td>
      <Td className="w-12 text-right">
        <IconButton label={`Release the seat of ${name}`} onClick={() => setReleasing(true)}>
          <MonitorX aria-hidden />
        </IconButton>
        <ReleaseSeat
          licenseId={licenseId}
          machine={machine}
          isOpen={isReleasing}
          onClose={() => setReleasing(false)}
        />
      </Td>
    </Tr>
  );
};
