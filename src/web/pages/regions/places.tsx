import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { REGIONS, REGION_NAMES, type Region } from '../../../shared/rules/regions.ts';
import { moveHome } from '../../data/mutations.ts';
import type { Regions } from '../../data/queries.ts';
import { Badge, StateBadge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Card, CardHeader } from '../../ui/card.tsx';
import { Dialog, FormActions } from '../../ui/dialog.tsx';
import { Form, SelectField } from '../../ui/form.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { Time } from '../../ui/time.tsx';

const MoveForm = ({ home, onClose }: { home: Region | null; onClose: () => void }) => {
  const move = useMutation({ ...moveHome, onSuccess: onClose });
  const others = REGIONS.filter((region) => region !== home);
  const send = (values: Record<string, string>) => {
    const region = others.find((other) => other === values['region']);
    if (region) move.mutate({ region });
  };
  return (
    <Form write={move} onSend={send}>
      <SelectField label="New home region" name="region">
        {others.map((region) => (
          <option key={region} value={region}>
            {REGION_NAMES[region]}
          </option>
        ))}
      </SelectField>
      <FormActions onCancel={onClose} isBusy={move.isPending}>
        Move home
      </FormActions>
    </Form>
  );
};

/** Moves the account to another home region. */
const MoveHome = ({ home, isDisabled }: { home: Region | null; isDisabled: boolean }) => {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button size="sm" disabled={isDisabled} onClick={() => setOpen(true)}>
        Move home
      </Button>
      <Dialog
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        title="Move your home region"
        hint="Calls are answered throughout the move, and all counts and seats move, too. You can move once every 24 hours."
      >
        <MoveForm home={home} onClose={() => setOpen(false)} />
      </Dialog>
    </>
  );
};

const Place = ({ name, code, children }: { name: ReactNode; code?: string; children: ReactNode }) => (
  <li className="flex min-h-13 flex-wrap items-center justify-between gap-x-4 gap-y-1 px-5 py-2.5">
    <span className="min-w-0">
      <span className="font-medium">{name}</span>
      {code !== undefined && <code className="ml-2 text-xs text-muted">{code}</code>}
    </span>
    {children}
  </li>
);

const Home = ({ regions: { home_region: region, moving_to: movingTo } }: { regions: Regions }) => (
  <Place
    name={region === null ? 'Chosen by Cloudflare' : REGION_NAMES[region]}
    {...(region !== null && { code: region })}
  >
    <span className="flex items-center gap-3">
      {movingTo !== null && <StateBadge tone="warn">Moving to {REGION_NAMES[movingTo]}</StateBadge>}
      <Badge tone="brass">Home</Badge>
    </span>
  </Place>
);

/** The home region and the open branches. */
export const Places = ({ regions }: { regions: Regions | undefined }) => (
  <Card>
    <CardHeader
      title="Where verify calls are answered"
      actions={<MoveHome home={regions?.home_region ?? null} isDisabled={regions?.moving_to !== null} />}
    />
    <ul className="divide-y divide-line border-t border-line text-sm">
      {regions ? (
        <>
          <Home regions={regions} />
          {regions.branches.map(({ region, opened_at }) => (
            <Place key={region} name={REGION_NAMES[region]} code={region}>
              <span className="flex items-center gap-3 text-muted">
                <span>
                  Opened <Time at={opened_at} />
                </span>
                <StateBadge tone="good">Branch</StateBadge>
              </span>
            </Place>
          ))}
          {regions.enabled && regions.branches.length === 0 && (
            <li className="px-5 py-3 text-muted">
              No branches are open. A branch opens when a region far from home keeps calling, and closes some
              time after its last call.
            </li>
          )}
        </>
      ) : (
        <li className="flex h-13 items-center px-5">
          <Skeleton className="h-3.5 w-48" />
        </li>
      )}
    </ul>
  </Card>
);
