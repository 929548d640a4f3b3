import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { MAX_PRODUCT_CODE_LENGTH, PRODUCT_CODE_PATTERN } from '../../../shared/rules/terms.ts';
import { invalidField } from '../../data/error.ts';
import { createProduct } from '../../data/license-mutations.ts';
import { Dialog, FormActions } from '../../ui/dialog.tsx';
import { Form, TextField } from '../../ui/form.tsx';
import { NameField } from './name-field.tsx';

const readCode = ({ code = '' }: Record<string, string>): string => {
  const text = code.trim();
  if (text === '') throw invalidField('code', 'Enter a code');
  if (PRODUCT_CODE_PATTERN.test(text)) return text;
  throw invalidField('code', 'Use letters, digits, dots, hyphens and underscores');
};

const CreateForm = ({ onClose }: { onClose: () => void }) => {
  const navigate = useNavigate();
  const create = useMutation({
    ...createProduct,
    onSuccess: ({ code }) => navigate({ to: '/products/$code', params: { code }, replace: true }),
  });
  const send = (values: Record<string, string>) =>
    create.mutate({ code: readCode(values), json: { name: values['name']?.trim() || null } });
  return (
    <Form write={create} onSend={send}>
      <TextField
        label="Code"
        name="code"
        autoComplete="off"
        spellCheck={false}
        maxLength={MAX_PRODUCT_CODE_LENGTH}
        placeholder="orrery-studio"
        hint="Licenses whose product is this code have the product’s terms. It can’t be changed later."
        className="font-mono"
      />
      <NameField />
      <FormActions onCancel={onClose} isBusy={create.isPending}>
        Create product
      </FormActions>
    </Form>
  );
};

export const CreateProduct = ({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) => (
  <Dialog isOpen={isOpen} onClose={onClose} title="Create product" hint="You set its terms on the next page.">
    <CreateForm onClose={onClose} />
  </Dialog>
);
