import { useState } from 'react';
import { DEFAULT_OVERLAP_HOURS } from '../../../shared/rules/api-keys.ts';
import { rotateApiKey } from '../../data/mutations.ts';
import type { ApiKey } from '../../data/queries.ts';
import { Button } from '../../ui/button.tsx';
import { Secret } from '../../ui/copy.tsx';
import { Dialog, DialogActions, FormActions } from '../../ui/dialog.tsx';
import { Form, SelectField } from '../../ui/form.tsx';
import { useOnce } from '../../ui/use-once.ts';

const OVERLAPS = [
  { hours: 0, label: 'It stops at once' },
  { hours: 1, label: '1 hour' },
  { hours: 24, label: '1 day' },
  { hours: 72, label: '3 days' },
  { hours: 168, label: '7 days' },
];

const RotateForm = ({
  apiKey,
  onRotated,
  onClose,
}: {
  apiKey: ApiKey;
  onRotated: (key: string) => void;
  onClose: () => void;
}) => {
  const rotate = useOnce({ ...rotateApiKey(apiKey.id), onSuccess: ({ api_key }) => onRotated(api_key) });
  return (
    <Form
      write={rotate}
      onSend={({ overlap_hours }) => rotate.mutate({ overlap_hours: Number(overlap_hours) })}
    >
      <SelectField
        label="The old key keeps working for"
        name="overlap_hours"
        defaultValue={DEFAULT_OVERLAP_HOURS}
        hint="Time to replace it where it is used. It never outlives its own expiry date."
      >
        {OVERLAPS.map(({ hours, label }) => (
          <option key={hours} value={hours}>
            {label}
          </option>
        ))}
      </SelectField>
      <FormActions onCancel={onClose} isBusy={rotate.isPending}>
        Rotate key
      </FormActions>
    </Form>
  );
};

/** Replaces a key by a new one with the same name, scope and allowed addresses. */
export const RotateKey = ({
  apiKey,
  isOpen,
  onClose,
}: {
  apiKey: ApiKey;
  isOpen: boolean;
  onClose: () => void;
}) => {
  const [created, setCreated] = useState<string | null>(null);
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      onClosed={() => setCreated(null)}
      title={created ? 'Your new API key' : `Rotate ${apiKey.name ?? 'this API key'}?`}
      hint={
        created
          ? 'Copy it to where the old key is used. You can reveal it again at any time.'
          : 'You get a new key with the same name and access.'
      }
    >
      {created ? (
        <div className="grid gap-4">
          <Secret value={created} what="key" isShownOnce={false} />
          <DialogActions>
            <Button variant="solid" onClick={onClose}>
              Done
            </Button>
          </DialogActions>
        </div>
      ) : (
        <RotateForm apiKey={apiKey} onRotated={setCreated} onClose={onClose} />
      )}
    </Dialog>
  );
};
