import { customerWords } from '../../../shared/rules/license-fields.ts';
import { eraseCustomer } from '../../data/license-mutations.ts';
import { Confirm } from '../../ui/dialog.tsx';
import { showToast } from '../../ui/toast.tsx';

interface EraseCustomerProps {
  email: string;
  isOpen: boolean;
  onClose: () => void;
  lead?: () => Promise<void>;
}

/** Asks whether a customer is to be erased. */
export const EraseCustomer = ({ email, ...props }: EraseCustomerProps) => (
  <Confirm
    {...props}
    title="Erase this customer?"
    action="Erase customer"
    isDangerous
    typed={email}
    write={eraseCustomer(email)}
    onDone={() => showToast('Customer erased')}
  >
    <p>
      The customer’s {customerWords('conjunction')}, and the names of machines, are removed from all of their
      licenses, and from history and events. The licenses keep working. This can’t be undone.
    </p>
  </Confirm>
);
