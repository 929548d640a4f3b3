import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { MAX_DURATION_DAYS } from '../../../shared/rules/licenses.ts';
import {
  DISPUTE_ACTIONS,
  GRANTS,
  MAX_OFFER_REF_LENGTH,
  REFUND_ACTIONS,
} from '../../../shared/rules/stores.ts';
import { MAX_GRACE_DAYS } from '../../../shared/rules/terms.ts';
import { NEW_OFFER, type Offer, type OfferValues, saveOffer, type Store } from '../../data/store-queries.ts';
import { Dialog, FormActions } from '../../ui/dialog.tsx';
import { Drafted, useDraft, useOpened } from '../../ui/draft.tsx';
import { Choice, Form, SelectField, TextField } from '../../ui/form.tsx';
import { showToast } from '../../ui/toast.tsx';
import { ProductField } from '../licenses/product-field.tsx';
import { GRANT_NAMES, previewOf, refundText } from './offer-text.ts';
import { PROVIDERS } from './providers.ts';

interface OfferFormProps {
  store: Store;
  offer: Offer | null;
  onDone: () => void;
}

const wholeOf = (text: string | undefined): number => Number(text?.trim() || Number.NaN);

const OfferForm = ({ store, offer, onDone }: OfferFormProps) => {
  const draft = useDraft();
  const { opened, changesTo } = useOpened<OfferValues>(offer ?? NEW_OFFER);
  const [product, setProduct] = useState(draft?.values?.['product'] ?? opened.product);
  const [grant, setGrant] = useState(opened.grant);
  const [quantity, setQuantity] = useState(opened.quantity);
  const [days, setDays] = useState(String(opened.days ?? 365));
  const [grace, setGrace] = useState(String(opened.grace_days));
  const [mail, setMail] = useState(opened.mail);
  const save = useMutation({
    ...saveOffer(store.id),
    onSuccess: () => {
      showToast('Offer saved');
      onDone();
    },
  });
  const send = ({ ref = '', on_refund, on_dispute }: Record<string, string>) => {
    const changes = changesTo({
      product,
      grant,
      quantity,
      days: grant === 'days' ? wholeOf(days) : opened.days,
      grace_days: grant === 'subscription' ? wholeOf(grace) : opened.grace_days,
      on_refund: on_refund as Offer['on_refund'],
      on_dispute: on_dispute as Offer['on_dispute'],
      mail,
    });
    save.mutate({ ref: offer?.ref ?? ref.trim(), isNew: !offer, changes });
  };
  const preview = previewOf({
    product,
    grant,
    days: wholeOf(days) || 0,
    quantity,
    grace_days: wholeOf(grace) || 0,
    mail,
  });
  return (
    <Form write={save} onSend={send} draft={draft}>
      {!offer && (
        <TextField
          label="Store’s ID"
          name="ref"
          autoComplete="off"
          spellCheck={false}
          maxLength={MAX_OFFER_REF_LENGTH}
          className="font-mono"
          hint={`${PROVIDERS[store.provider].ref}.`}
        />
      )}
      <ProductField value={product} onChoose={setProduct} />
      <div className="grid gap-4 sm:grid-cols-2">
        <SelectField
          label="Buyer gets"
          name="grant"
          value={grant}
          onChange={({ currentTarget }) => setGrant(currentTarget.value as Offer['grant'])}
        >
          {GRANTS.map((name) => (
            <option key={name} value={name}>
              {GRANT_NAMES[name]}
            </option>
          ))}
        </SelectField>
        {grant === 'days' && (
          <TextField
            label="Days"
            name="days"
            inputMode="numeric"
            autoComplete="off"
            maxLength={String(MAX_DURATION_DAYS).length}
            value={days}
            onChange={({ currentTarget }) => setDays(currentTarget.value)}
            className="nums"
          />
        )}
        {grant === 'subscription' && (
          <TextField
            label="Days of grace"
            name="grace_days"
            inputMode="numeric"
            autoComplete="off"
            maxLength={String(MAX_GRACE_DAYS).length}
            value={grace}
            onChange={({ currentTarget }) => setGrace(currentTarget.value)}
            className="nums"
          />
        )}
        <SelectField
          label="A quantity creates"
          name="quantity"
          value={quantity}
          onChange={({ currentTarget }) => setQuantity(currentTarget.value as Offer['quantity'])}
        >
          <option value="licenses">Licenses</option>
          <option value="seats">Seats of one license</option>
        </SelectField>
        <SelectField label="A refund" name="on_refund" defaultValue={opened.on_refund}>
          {REFUND_ACTIONS.map((action) => (
            <option key={action} value={action}>
              {refundText(action)}
            </option>
          ))}
        </SelectField>
        <SelectField label="A dispute" name="on_dispute" defaultValue={opened.on_dispute}>
          {DISPUTE_ACTIONS.map((action) => (
            <option key={action} value={action}>
              {refundText(action)}
            </option>
          ))}
        </SelectField>
      </div>
      <Choice
        name="mail"
        checked={mail}
        onChange={({ currentTarget }) => setMail(currentTarget.checked)}
        label="Email the key to the buyer"
      />
      <p aria-live="polite" className="rounded-lg bg-sunken px-3 py-2 text-sm">
        {preview}
      </p>
      <FormActions onCancel={onDone} isBusy={save.isPending}>
        Save offer
      </FormActions>
    </Form>
  );
};

export const EditOffer = ({
  store,
  edited,
  onClose,
}: {
  store: Store;
  edited: Offer | 'new' | null;
  onClose: () => void;
}) => {
  const offer = edited === 'new' ? null : edited;
  return (
    <Dialog
      isOpen={edited !== null}
      onClose={onClose}
      title={offer ? 'Edit offer' : 'Add offer'}
      hint={offer ? offer.ref : 'Purchases waiting for this offer get their licenses when you save it.'}
    >
      <Drafted name={`offer-${store.id}-${offer?.ref ?? 'new'}`}>
        <OfferForm store={store} offer={offer} onDone={onClose} />
      </Drafted>
    </Dialog>
  );
};
