import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { type Region, REGION_NAMES, REGIONS } from '../../../shared/rules/regions.ts';
import { moveHome } from '../../data/mutations.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog, FormActions } from '../../ui/dialog.tsx';
import { Form, SelectField } from '../../ui/form.tsx';

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
export const MoveHome = ({ home, isDisabled }: { home: Region | null; isDisabled: boolean }) => {
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
        hint="Calls are answered throughout the move, and all counts and seats move along. You can move once in 24 hours."
      >
        <MoveForm home={home} onClose={() => setOpen(false)} />
      </Dialog>
    </>
  );
};
