import { deleteApiKey } from '../../data/mutations.ts';
import type { ApiKey } from '../../data/queries.ts';
import { Confirm } from '../../ui/dialog.tsx';
import { showToast } from '../../ui/toast.tsx';

export const DeleteKey = ({
  apiKey,
  isOpen,
  onClose,
}: {
  apiKey: ApiKey;
  isOpen: boolean;
  onClose: () => void;
}) => (
  <Confirm
    isOpen={isOpen}
    onClose={onClose}
    title={`Delete ${apiKey.name ?? 'this API key'}?`}
    action="Delete key"
    isDangerous
    typed={apiKey.name ?? 'delete'}
    write={deleteApiKey(apiKey.id)}
    onDone={() => showToast('API key deleted')}
  >
    <p>
      Calls with <code className="text-ink">{apiKey.masked_key}</code> are rejected from now on. This can’t be
      undone.
    </p>
  </Confirm>
);
