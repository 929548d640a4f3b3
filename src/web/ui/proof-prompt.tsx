import { useMutation, useQuery } from '@tanstack/react-query';
import { useEffect, useId } from 'react';
import { proveSession } from '../data/access-mutations.ts';
import { addPlace, settleProof, useIsAsked } from '../data/proof.ts';
import { accountQuery } from '../data/queries.ts';
import { DialogFrame, FormActions } from './dialog-frame.tsx';
import { Form, TextField } from './form.tsx';

const ProofForm = () => {
  const { data: account } = useQuery(accountQuery);
  const prove = useMutation({ ...proveSession, onSuccess: () => settleProof(true) });
  const send = ({ password = '', code }: Record<string, string>) =>
    prove.mutate(code === undefined ? { password } : { code: code.trim() });
  return (
    <Form write={prove} onSend={send}>
      {account?.two_factor ? (
        <TextField
          label="Code"
          name="code"
          autoComplete="one-time-code"
          spellCheck={false}
          hint="From your authenticator app, or a recovery code. Each code works once."
          required
          className="nums"
        />
      ) : (
        <TextField
          label="Your password"
          name="password"
          type="password"
          autoComplete="current-password"
          required
        />
      )}
      <FormActions onCancel={() => settleProof(false)} isBusy={prove.isPending}>
        Continue
      </FormActions>
    </Form>
  );
};

/** Asks for the password, or a code, when a call waits for it. Each dialog has one, because nothing outside of it can be used. */
export const ProofPrompt = () => {
  const place = useId();
  useEffect(() => addPlace(place), [place]);
  return (
    <DialogFrame
      isOpen={useIsAsked(place)}
      onClose={() => settleProof(false)}
      title="Confirm it’s you"
      hint="You signed in a while ago, and this affects access to your account or its data."
      width="max-w-md"
    >
      <ProofForm />
    </DialogFrame>
  );
};
