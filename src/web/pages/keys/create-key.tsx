import { useState } from 'react';
import { type KeyScope, MAX_KEY_NAME_LENGTH } from '../../../shared/rules/api-keys.ts';
import { MAX_ALLOWED_IPS } from '../../../shared/rules/ip-addresses.ts';
import { createApiKey } from '../../data/mutations.ts';
import { Button } from '../../ui/button.tsx';
import { Secret } from '../../ui/copy.tsx';
import { Dialog, DialogActions, FormActions } from '../../ui/dialog.tsx';
import { Drafted, useDraft } from '../../ui/draft.tsx';
import { Choice, ChoiceGroup, Form, TextArea, TextField } from '../../ui/form.tsx';
import { useOnce } from '../../ui/use-once.ts';

/** Returns the end of the chosen day in the browser's time zone. */
const endOfDay = (date: string) => new Date(`${date}T23:59:59.999`).toISOString();

const readAddresses = (text = ''): string[] => text.split(/[\s,]+/).filter(Boolean);

const CreateForm = ({ onCreated, onClose }: { onCreated: (key: string) => void; onClose: () => void }) => {
  const create = useOnce({ ...createApiKey, onSuccess: ({ api_key }) => onCreated(api_key) });
  const [scope, setScope] = useState<KeyScope>('full');
  const send = ({ name, expires_at, allowed_ips }: Record<string, string>) => {
    const addresses = readAddresses(allowed_ips);
    create.mutate({
      ...(name && { name }),
      scope,
      ...(expires_at && { expires_at: endOfDay(expires_at) }),
      ...(addresses.length > 0 && { allowed_ips: addresses }),
    });
  };
  return (
    <Form write={create} onSend={send} draft={useDraft()}>
      <TextField
        label="Name"
        name="name"
        placeholder="Production server"
        autoComplete="off"
        maxLength={MAX_KEY_NAME_LENGTH}
      />
      <ChoiceGroup label="Access">
        <Choice
          type="radio"
          name="scope"
          value="full"
          checked={scope === 'full'}
          onChange={() => setScope('full')}
          label="Full access"
          hint="Creates, verifies, and manages licenses. For your own servers."
        />
        <Choice
          type="radio"
          name="scope"
          value="verify"
          checked={scope === 'verify'}
          onChange={() => setScope('verify')}
          label="Verify licenses only"
          hint="Safe to ship inside an application."
        />
      </ChoiceGroup>
      <TextField
        label="Last day"
        name="expires_at"
        type="date"
        hint="The key works through the end of this day. Leave empty for a key that never expires."
      />
      {scope === 'full' && (
        <TextArea
          label="Allowed IP addresses"
          name="allowed_ips"
          rows={2}
          autoComplete="off"
          spellCheck={false}
          placeholder="192.0.2.10 2001:db8::/48"
          hint={`Up to ${MAX_ALLOWED_IPS} addresses or CIDR blocks. From elsewhere, the key is refused. Leave empty to allow all.`}
        />
      )}
      <FormActions onCancel={onClose} isBusy={create.isPending}>
        Create key
      </FormActions>
    </Form>
  );
};

export const CreateKey = ({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) => {
  const [created, setCreated] = useState<string | null>(null);
  const close = () => {
    onClose();
    setCreated(null);
  };
  return (
    <Dialog
      isOpen={isOpen}
      onClose={close}
      title={created ? 'Your new API key' : 'Create API key'}
      hint={created && 'Copy it to where it is used. You can reveal it again at any time.'}
    >
      {created ? (
        <div className="grid gap-4">
          <Secret value={created} what="key" isShownOnce={false} />
          <DialogActions>
            <Button variant="solid" onClick={close}>
              Done
            </Button>
          </DialogActions>
        </div>
      ) : (
        <Drafted name="create-key">
          <CreateForm onCreated={setCreated} onClose={close} />
        </Drafted>
      )}
    </Dialog>
  );
};
