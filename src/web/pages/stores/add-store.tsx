import { useState } from 'react';
import {
  MAX_STORE_NAME_LENGTH,
  STORE_PROVIDERS,
  type StoreProviderName,
} from '../../../shared/rules/stores.ts';
import { createStore, type Store } from '../../data/store-queries.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { Secret } from '../../ui/copy.tsx';
import { Dialog, DialogActions, FormActions } from '../../ui/dialog.tsx';
import { Drafted, useDraft } from '../../ui/draft.tsx';
import { Choice, Form, SelectField, TextField } from '../../ui/form.tsx';
import { useOnce } from '../../ui/use-once.ts';
import { PROVIDERS } from './providers.ts';

interface AddFormProps {
  onAdded: (store: Store) => void;
  onClose: () => void;
}

const AddForm = ({ onAdded, onClose }: AddFormProps) => {
  const draft = useDraft();
  const [provider, setProvider] = useState<StoreProviderName>('stripe');
  const add = useOnce({ ...createStore, onSuccess: onAdded });
  const texts = PROVIDERS[provider];
  const send = ({ name, secret, api_key }: Record<string, string>, form: FormData) =>
    add.mutate({
      provider,
      name: name?.trim() || texts.name,
      ...(secret?.trim() && { secret: secret.trim() }),
      ...(api_key?.trim() && { api_key: api_key.trim() }),
      accept_test: form.has('accept_test'),
    });
  return (
    <Form write={add} onSend={send} draft={draft}>
      <SelectField
        label="Where you sell"
        name="provider"
        value={provider}
        onChange={({ currentTarget }) => setProvider(currentTarget.value as StoreProviderName)}
      >
        {STORE_PROVIDERS.map((name) => (
          <option key={name} value={name}>
            {PROVIDERS[name].name}
          </option>
        ))}
      </SelectField>
      <TextField
        label="Name"
        name="name"
        autoComplete="off"
        maxLength={MAX_STORE_NAME_LENGTH}
        placeholder={texts.name}
        hint="For your own lists."
      />
      {texts.secret !== null && (
        <TextField
          label="Secret"
          name="secret"
          type="password"
          autoComplete="off"
          hint={
            texts.isSecretLater
              ? `${texts.secret}. ${texts.name} creates it once it has the URL, so you can add it afterwards.`
              : `${texts.secret}.`
          }
        />
      )}
      {texts.apiKey !== null && (
        <TextField
          label={texts.needsApiKey ? 'API key' : 'API key (optional)'}
          name="api_key"
          type="password"
          autoComplete="off"
          hint={texts.apiKey}
        />
      )}
      <Choice
        name="accept_test"
        label="Create licenses for test purchases"
        hint="They carry the metadata test. Otherwise, test purchases are only listed."
      />
      <FormActions onCancel={onClose} isBusy={add.isPending}>
        Add store
      </FormActions>
    </Form>
  );
};

const Added = ({ store }: { store: Store }) => (
  <div className="grid gap-4">
    <Secret
      value={store.webhook_url}
      what="webhook URL"
      isShownOnce={PROVIDERS[store.provider].secret === null}
    />
    <p className="text-sm text-muted">
      Enter this URL in {PROVIDERS[store.provider].where}.
      {PROVIDERS[store.provider].secret === null &&
        ' It has a secret token, and isn’t shown again. You can create another one later.'}
    </p>
    <DialogActions>
      <ButtonLink to="/stores/$id" params={{ id: store.id }} variant="solid">
        Open store
      </ButtonLink>
    </DialogActions>
  </div>
);

export const AddStore = ({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) => {
  const [added, setAdded] = useState<Store | null>(null);
  const close = () => {
    onClose();
    setAdded(null);
  };
  return (
    <Dialog
      isOpen={isOpen}
      onClose={close}
      title={added ? 'Store added' : 'Add store'}
      hint={added ? 'One more step: let the store send its purchases here.' : undefined}
    >
      {added ? (
        <Added store={added} />
      ) : (
        <Drafted name="add-store">
          <AddForm onAdded={setAdded} onClose={close} />
        </Drafted>
      )}
    </Dialog>
  );
};
