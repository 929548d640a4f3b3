import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { MAX_STORE_NAME_LENGTH, SECRET_OVERLAP_HOURS } from '../../../shared/rules/stores.ts';
import { patchStore, type Store } from '../../data/store-queries.ts';
import { Button } from '../../ui/button.tsx';
import { Secret } from '../../ui/copy.tsx';
import { Dialog, DialogActions, FormActions } from '../../ui/dialog.tsx';
import { Drafted, useDraft, useOpened } from '../../ui/draft.tsx';
import { Choice, Form, TextField } from '../../ui/form.tsx';
import { showToast } from '../../ui/toast.tsx';
import { PROVIDERS } from './providers.ts';

interface EditFormProps {
  store: Store;
  onSaved: (store: Store, hasNewUrl: boolean) => void;
  onClose: () => void;
}

const EditForm = ({ store, onSaved, onClose }: EditFormProps) => {
  const { secret: secretHint, apiKey } = PROVIDERS[store.provider];
  const save = useMutation({
    ...patchStore(store.id),
    onSuccess: (saved, { rotate_secret }) => onSaved(saved, rotate_secret === true),
  });
  const { opened, changesTo } = useOpened({ name: store.name, accept_test: store.accept_test });
  const send = ({ name, secret, api_key }: Record<string, string>, form: FormData) =>
    save.mutate({
      ...changesTo({ name: name?.trim() || opened.name, accept_test: form.has('accept_test') }),
      ...(secret?.trim() && { secret: secret.trim() }),
      ...(api_key?.trim() && { api_key: api_key.trim() }),
      ...(form.has('rotate_secret') && { rotate_secret: true as const }),
    });
  return (
    <Form write={save} onSend={send} draft={useDraft()}>
      <TextField
        label="Name"
        name="name"
        autoComplete="off"
        maxLength={MAX_STORE_NAME_LENGTH}
        defaultValue={opened.name}
      />
      {secretHint === null ? (
        <Choice
          name="rotate_secret"
          label="Create another webhook URL"
          hint={`The current one is accepted for ${SECRET_OVERLAP_HOURS} more hours.`}
        />
      ) : (
        <TextField
          label="New secret"
          name="secret"
          type="password"
          autoComplete="off"
          placeholder={store.has_secret ? 'Leave empty to keep it' : ''}
          hint={`${secretHint}. A replaced secret is accepted for ${SECRET_OVERLAP_HOURS} more hours.`}
        />
      )}
      {apiKey !== null && (
        <TextField
          label="New API key"
          name="api_key"
          type="password"
          autoComplete="off"
          placeholder={store.has_api_key ? 'Leave empty to keep it' : ''}
          hint={apiKey}
        />
      )}
      <Choice
        name="accept_test"
        defaultChecked={opened.accept_test}
        label="Create licenses for test purchases"
        hint="They carry the metadata test."
      />
      <FormActions onCancel={onClose} isBusy={save.isPending}>
        Save changes
      </FormActions>
    </Form>
  );
};

export const EditStore = ({
  store,
  isOpen,
  onClose,
}: {
  store: Store;
  isOpen: boolean;
  onClose: () => void;
}) => {
  const [url, setUrl] = useState<string | null>(null);
  const close = () => {
    onClose();
    setUrl(null);
  };
  const done = (saved: Store, hasNewUrl: boolean) => {
    showToast('Store saved');
    if (hasNewUrl) setUrl(saved.webhook_url);
    else close();
  };
  return (
    <Dialog
      isOpen={isOpen}
      onClose={close}
      title={url === null ? 'Edit store' : 'New webhook URL'}
      hint={url === null ? undefined : 'Enter it in the store. It isn’t shown again.'}
    >
      {url === null ? (
        <Drafted name={`edit-store-${store.id}`}>
          <EditForm store={store} onSaved={done} onClose={close} />
        </Drafted>
      ) : (
        <div className="grid gap-4">
          <Secret value={url} what="webhook URL" isShownOnce />
          <DialogActions>
            <Button onClick={close}>Done</Button>
          </DialogActions>
        </div>
      )}
    </Dialog>
  );
};
