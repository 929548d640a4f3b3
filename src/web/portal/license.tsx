import { useState } from 'react';
import { ask, type CustomersLicense, portal, slug } from '../data/portal.ts';
import { LicenseBadge } from '../ui/badge.tsx';
import { Machines } from './machines.tsx';
import { OfflineFile } from './offline-file.tsx';
import { Button, Card, date, Notice, Swap, useAction } from './parts.tsx';

interface LicenseProps {
  license: CustomersLicense;
  onChange: (license: CustomersLicense) => void;
}

const endText = ({ expires_at: end, grace_until: grace, status }: CustomersLicense): string => {
  if (end === null) return 'Never expires';
  const lastDay = grace ?? end;
  return status === 'expired' ? `Expired after ${date(lastDay)}` : `Valid through ${date(lastDay)}`;
};

const seatsText = ({ max_activations: limit }: CustomersLicense): string => {
  if (limit === null) return 'Any number of machines';
  return limit === 1 ? 'One machine' : `${limit} machines at a time`;
};

const Key = ({ license }: Pick<LicenseProps, 'license'>) => {
  const [shown, setShown] = useState<string | null>(null);
  const [isCopied, setCopied] = useState(false);
  const { run, isBusy, failure } = useAction(async () => {
    const { license_key } = await ask(portal.licenses[':id'].key.$get({ param: { slug, id: license.id } }));
    setShown(license_key);
  });
  const copy = useAction(async () => {
    await navigator.clipboard.writeText(shown ?? '');
    setCopied(true);
  });
  return (
    <div className="grid gap-2">
      <div className="flex flex-wrap items-center gap-2 rounded-lg bg-sunken px-3 py-2">
        <code className="min-w-0 grow break-all">{shown ?? license.masked_key}</code>
        {shown !== null && <Button onClick={copy.run}>{isCopied ? 'Copied' : 'Copy'}</Button>}
        {/* It is one button, which keeps the focus. */}
        <Button
          variant={shown === null ? 'outline' : 'quiet'}
          isBusy={isBusy}
          onClick={shown === null ? run : () => setShown(null)}
        >
          {shown === null ? 'Show key' : 'Hide'}
        </Button>
      </div>
      {failure}
    </div>
  );
};

const ChangeKey = ({ license, onChange }: LicenseProps) => {
  const [isAsked, setAsked] = useState(false);
  const [newKey, setNewKey] = useState<string | null>(null);
  const { run, isBusy, failure } = useAction(async () => {
    const changed = await ask(
      portal.licenses[':id']['rotate-key'].$post({ param: { slug, id: license.id } }),
    );
    const { license_key, ...rest } = changed;
    setNewKey(license_key);
    setAsked(false);
    onChange(rest);
  });
  return (
    <Swap shows={newKey ?? isAsked}>
      {newKey !== null ? (
        <Notice tone="good">
          Your new key is <code className="break-all">{newKey}</code>. Enter it in the application on each of
          your machines.
        </Notice>
      ) : isAsked ? (
        <div className="grid gap-3 rounded-lg border border-line p-4">
          <p>Your current key stops working at once. Enter the new one on each of your machines.</p>
          {failure}
          <div className="flex flex-wrap gap-2">
            <Button variant="danger" isBusy={isBusy} onClick={run}>
              Change it now
            </Button>
            <Button onClick={() => setAsked(false)}>Keep it</Button>
          </div>
        </div>
      ) : (
        <Button onClick={() => setAsked(true)}>Change the key</Button>
      )}
    </Swap>
  );
};

/** Leads to the store's own page. */
const StorePage = ({ license }: Pick<LicenseProps, 'license'>) => {
  const { run, isBusy, failure } = useAction(async () => {
    const param = { slug, id: license.id };
    const { url } = await ask(portal.licenses[':id']['store-link'].$post({ param }));
    location.assign(url);
  });
  return (
    <div className="grid justify-items-start gap-2">
      <Button isBusy={isBusy} onClick={run}>
        Invoices and cancellation
      </Button>
      {failure}
    </div>
  );
};

export const License = ({ license, onChange }: LicenseProps) => {
  const [open, setOpen] = useState<'machines' | 'file' | null>(null);
  const toggle = (part: 'machines' | 'file') => setOpen(open === part ? null : part);
  return (
    <Card>
      <div className="flex flex-wrap items-start justify-between gap-2">
        <div className="min-w-0">
          <h2 className="text-lg font-semibold">{license.product_name ?? license.product ?? 'License'}</h2>
          <p className="text-muted">
            {endText(license)} · {seatsText(license)}
          </p>
          {license.updates_until && (
            <p className="text-muted">Updates through {date(license.updates_until)}</p>
          )}
        </div>
        <LicenseBadge status={license.status} />
      </div>
      <Key key={license.masked_key} license={license} />
      <div className="flex flex-wrap gap-2">
        <Button aria-expanded={open === 'machines'} onClick={() => toggle('machines')}>
          Machines
        </Button>
        {license.can.offline_file && license.status === 'active' && (
          <Button aria-expanded={open === 'file'} onClick={() => toggle('file')}>
            Offline file
          </Button>
        )}
      </div>
      {open === 'machines' && <Machines license={license} />}
      {open === 'file' && <OfflineFile license={license} />}
      {license.has_store_page && <StorePage license={license} />}
      {license.can.rotate_key && <ChangeKey license={license} onChange={onChange} />}
    </Card>
  );
};
