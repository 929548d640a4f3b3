import { useNavigate } from '@tanstack/react-router';
import { Ellipsis, RefreshCw, Trash2, UserX } from 'lucide-react';
import { useState } from 'react';
import { isNobodys } from '../../../shared/rules/licenses.ts';
import { deleteLicense, rotateLicenseKey } from '../../data/license-mutations.ts';
import type { LicenseBody } from '../../data/queries.ts';
import { IconButton } from '../../ui/button.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { Menu, MenuItem, MenuSeparator } from '../../ui/menu.tsx';
import { showToast } from '../../ui/toast.tsx';
import { EraseCustomer } from './erase-customer.tsx';

interface DialogProps {
  license: LicenseBody;
  isOpen: boolean;
  onClose: () => void;
}

const ReplaceKey = ({ license, ...props }: DialogProps) => (
  <Confirm
    {...props}
    title="Replace the license key?"
    action="Replace key"
    isDangerous
    write={rotateLicenseKey(license.id)}
    onDone={() => showToast('License key replaced')}
  >
    <p>
      The license gets a new key. <code className="break-all text-ink">{license.license_key}</code> is unknown
      from then on, so applications that use it stop working. Machines keep their seats.
    </p>
  </Confirm>
);

const Delete = ({ license, ...props }: DialogProps) => {
  const navigate = useNavigate();
  return (
    <Confirm
      {...props}
      title="Delete this license?"
      action="Delete license"
      isDangerous
      typed={license.license_key}
      write={deleteLicense(license.id)}
      onDone={() => showToast('License deleted')}
      lead={() => navigate({ to: '/licenses' })}
    >
      <p>
        The license is deleted with its history and its seats. This can’t be undone. To end it and keep its
        history, revoke it instead.
      </p>
    </Confirm>
  );
};

export const MoreActions = ({ license }: { license: LicenseBody }) => {
  const [open, setOpen] = useState<'key' | 'customer' | 'delete' | null>(null);
  const close = () => setOpen(null);
  return (
    <>
      <Menu
        trigger={
          <IconButton label="More actions" className="rounded-lg border border-line-strong bg-surface">
            <Ellipsis aria-hidden />
          </IconButton>
        }
      >
        <MenuItem icon={<RefreshCw aria-hidden />} onSelect={() => setOpen('key')}>
          Replace key…
        </MenuItem>
        <MenuSeparator />
        {!isNobodys(license.customer_email) && (
          <MenuItem icon={<UserX aria-hidden />} isDangerous onSelect={() => setOpen('customer')}>
            Erase customer…
          </MenuItem>
        )}
        <MenuItem icon={<Trash2 aria-hidden />} isDangerous onSelect={() => setOpen('delete')}>
          Delete…
        </MenuItem>
      </Menu>
      <ReplaceKey license={license} isOpen={open === 'key'} onClose={close} />
      <EraseCustomer email={license.customer_email} isOpen={open === 'customer'} onClose={close} />
      <Delete license={license} isOpen={open === 'delete'} onClose={close} />
    </>
  );
};
