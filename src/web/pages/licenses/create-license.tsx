import { useEffect, useRef, useState } from 'react';
import type { LicenseBody } from '../../data/queries.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Secret } from '../../ui/copy.tsx';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import { Drafted } from '../../ui/draft.tsx';
import { CreateForm } from './create-form.tsx';

const Created = ({ license, onAnother }: { license: LicenseBody; onAnother: () => void }) => {
  const ref = useRef<HTMLDivElement>(null);
  // The submit button that had the focus is gone.
  useEffect(() => ref.current?.focus(), []);
  return (
    <div
      ref={ref}
      tabIndex={-1}
      role="group"
      aria-label="License created"
      className="grid gap-4 outline-none"
    >
      <Secret value={license.license_key} what="license key" isShownOnce={false} />
      <DialogActions>
        <Button onClick={onAnother}>Create another</Button>
        <ButtonLink to="/licenses/$id" params={{ id: license.id }} variant="solid">
          Open license
        </ButtonLink>
      </DialogActions>
    </div>
  );
};

/**
 * The `create` search parameter opens this dialog. Once a license is created, the dialog stays open but the parameter is
 * removed, so that the Back button doesn't open the form again.
 */
export const CreateLicense = ({ isRequested, onLeave }: { isRequested: boolean; onLeave: () => void }) => {
  const [created, setCreated] = useState<LicenseBody | null>(null);
  const [isStaying, setStaying] = useState(false);
  const show = (license: LicenseBody) => {
    setCreated(license);
    setStaying(true);
    onLeave();
  };
  const close = () => {
    setStaying(false);
    onLeave();
  };
  return (
    <Dialog
      isOpen={isRequested || isStaying}
      onClose={close}
      onClosed={() => setCreated(null)}
      width="max-w-xl"
      title={created ? 'License created' : 'Create license'}
      hint={
        created
          ? `The license key for ${created.customer_name ?? created.customer_email}.`
          : 'All fields are optional.'
      }
    >
      {created ? (
        <Created license={created} onAnother={() => setCreated(null)} />
      ) : (
        <Drafted name="create-license">
          <CreateForm isAnother={isStaying} onCreated={show} onClose={close} />
        </Drafted>
      )}
    </Dialog>
  );
};
