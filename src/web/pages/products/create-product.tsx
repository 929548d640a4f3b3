import { MAX_DURATION_DAYS } from '../../../shared/rules/licenses.ts';
import { MAX_PRODUCT_CODE_LENGTH, MAX_SEATS, PRODUCT_CODE_PATTERN } from '../../../shared/rules/terms.ts';
import { invalidField } from '../../data/error.ts';
import { createProduct, type ProductInput } from '../../data/license-mutations.ts';
import type { Product } from '../../data/queries.ts';
import { Dialog, FormActions } from '../../ui/dialog.tsx';
import { Drafted, useDraft } from '../../ui/draft.tsx';
import { Form, TextField } from '../../ui/form.tsx';
import { useLeadingMutation } from '../../ui/use-leading-mutation.ts';
import { NameField } from './name-field.tsx';
import { NumberField } from './terms-fields.tsx';
import { readWhole } from './terms.ts';

const readCode = ({ code = '' }: Record<string, string>): string => {
  const text = code.trim();
  if (text === '') throw invalidField('code', 'Enter a code');
  if (PRODUCT_CODE_PATTERN.test(text)) return text;
  throw invalidField('code', 'Use letters, digits, dots, hyphens, and underscores');
};

const readProduct = (values: Record<string, string>): ProductInput => ({
  name: values['name']?.trim() || null,
  terms: {
    max_activations: readWhole(values, 'terms.max_activations', 1, MAX_SEATS),
    duration_days: readWhole(values, 'terms.duration_days', 1, MAX_DURATION_DAYS),
  },
});

interface CreateProductProps {
  isOpen: boolean;
  hint: string;
  onCreated: (product: Product) => Promise<void> | void;
  onClose: () => void;
}

const CreateForm = ({ onCreated, onClose }: Pick<CreateProductProps, 'onCreated' | 'onClose'>) => {
  const create = useLeadingMutation(createProduct, onCreated);
  const send = (values: Record<string, string>) =>
    create.mutate({ code: readCode(values), json: readProduct(values) });
  return (
    <Form write={create} onSend={send} draft={useDraft()}>
      <TextField
        label="Code"
        name="code"
        autoComplete="off"
        spellCheck={false}
        maxLength={MAX_PRODUCT_CODE_LENGTH}
        placeholder="orrery-studio"
        hint="Licenses whose product is this code have the product’s terms. The code can’t be changed later."
        className="font-mono"
      />
      <NameField />
      <div className="grid gap-4 sm:grid-cols-2">
        <NumberField value={null} term="max_activations" label="Seats" placeholder="No limit" />
        <NumberField value={null} term="duration_days" label="Duration in days" placeholder="Never expires" />
      </div>
      <FormActions onCancel={onClose} isBusy={create.isPending}>
        Create product
      </FormActions>
    </Form>
  );
};

/** A product with its most important terms. */
export const CreateProduct = ({ isOpen, hint, onCreated, onClose }: CreateProductProps) => (
  <Dialog isOpen={isOpen} onClose={onClose} title="Create product" hint={hint}>
    <Drafted name="create-product">
      <CreateForm onCreated={onCreated} onClose={onClose} />
    </Drafted>
  </Dialog>
);
