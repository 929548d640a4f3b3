import { useEffect, useEffectEvent, useState } from 'react';
import {
  ask,
  type CustomersLicense,
  type LicenseDetails,
  portal,
  type PortalMachine,
  slug,
} from '../data/portal.ts';
import { Button, date, dateTime, Swap, useAction } from './parts.tsx';

const nameOf = ({ name, platform }: PortalMachine) => name ?? platform;

const Machine = ({
  machine,
  licenseId,
  canRelease,
  onReleased,
}: {
  machine: PortalMachine;
  licenseId: string;
  canRelease: boolean;
  onReleased: () => void;
}) => {
  const [isAsked, setAsked] = useState(false);
  const { run, isBusy, failure } = useAction(async () => {
    const param = { slug, id: licenseId, activation_id: machine.id };
    await ask(portal.licenses[':id'].activations[':activation_id'].$delete({ param }));
    onReleased();
  });
  const facts = [
    machine.name === null ? null : machine.platform,
    machine.app_version && `version ${machine.app_version}`,
  ];
  return (
    <li className="py-3">
      <Swap shows={isAsked} className="grid gap-2">
        <div className="flex flex-wrap items-start justify-between gap-2">
          <div className="min-w-0">
            <p className="font-medium">{nameOf(machine) ?? 'A machine'}</p>
            <p className="text-sm text-muted">
              {facts.filter(Boolean).join(', ')}
              {facts.some(Boolean) && '. '}
              Last contact {dateTime(machine.last_seen_at)}
            </p>
            {machine.held_until && (
              <p className="text-sm text-muted">
                An offline file holds this seat until {date(machine.held_until)}.
              </p>
            )}
          </div>
          {canRelease && !machine.held_until && !isAsked && (
            <Button
              aria-label={`Release the seat of ${nameOf(machine) ?? 'this machine'}`}
              onClick={() => setAsked(true)}
            >
              Release
            </Button>
          )}
        </div>
        {isAsked && (
          <div className="grid gap-3 rounded-lg border border-line p-4">
            <p>
              The application on {nameOf(machine) ?? 'this machine'} stops working with this license, and
              another machine can take the seat.
            </p>
            {failure}
            <div className="flex flex-wrap gap-2">
              <Button variant="danger" isBusy={isBusy} onClick={run}>
                Release the seat
              </Button>
              <Button onClick={() => setAsked(false)}>Keep it</Button>
            </div>
          </div>
        )}
      </Swap>
    </li>
  );
};

export const Machines = ({ license }: { license: CustomersLicense }) => {
  const [details, setDetails] = useState<LicenseDetails>();
  const loading = useAction(async (after: string | null) => {
    const query = { limit: undefined, cursor: after ?? undefined };
    const found = await ask(portal.licenses[':id'].$get({ param: { slug, id: license.id }, query }));
    setDetails((before) => ({
      ...found,
      activations: [...(after === null ? [] : (before?.activations ?? [])), ...found.activations],
    }));
  });
  const start = useEffectEvent(() => loading.run(null));
  useEffect(() => start(), []);

  if (!details) return loading.failure ?? <p className="text-muted">Loading…</p>;
  const { activations, seats, next_cursor: next } = details;
  return (
    <Swap shows={details}>
      <h3 className="font-medium">
        Machines{seats && ` (${seats.used} of ${seats.limit} ${seats.limit === 1 ? 'seat' : 'seats'} taken)`}
      </h3>
      {activations.length === 0 && <p className="py-2 text-muted">No machine uses this license now.</p>}
      <ul className="divide-y divide-line">
        {activations.map((machine) => (
          <Machine
            key={machine.id}
            machine={machine}
            licenseId={license.id}
            canRelease={license.can.release_seat}
            onReleased={() => loading.run(null)}
          />
        ))}
      </ul>
      {next !== null && (
        <Button isBusy={loading.isBusy} onClick={() => loading.run(next)}>
          Show more machines
        </Button>
      )}
      {loading.failure}
    </Swap>
  );
};
