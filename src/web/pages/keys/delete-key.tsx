import { useQueryClient } from '@tanstack/react-query';
import { api, call } from '../../data/client.ts';
import { type ApiKey, apiKeysQuery, dashboardQuery } from '../../data/queries.ts';
import { Confirm } from '../../ui/dialog.tsx';
import { tell } from '../../ui/toast.tsx';

export const DeleteKey = ({
  apiKey,
  isOpen,
  onClose,
}: {
  apiKey: ApiKey;
  isOpen: boolean;
  onClose: () => void;
}) => {
  const queryClient = useQueryClient();
  const remove = async () => {
    await call(api['api-keys'][':id'].$delete({ param: { id: apiKey.id } }));
    tell('API key deleted');
    await Promise.all(
      [apiKeysQuery, dashboardQuery].map(({ queryKey }) => queryClient.invalidateQueries({ queryKey })),
    );
  };
  return (
    <Confirm
      isOpen={isOpen}
      onClose={onClose}
      title={`Delete ${apiKey.name ?? 'this API key'}?`}
      action="Delete key"
      isDangerous
      typed={apiKey.name ?? 'delete'}
      onConfirm={remove}
    >
      <p>
        From this moment on, whatever uses <code className="text-ink">{apiKey.masked_key}</code> is refused.
        This can’t be undone.
      </p>
    </Confirm>
  );
};
