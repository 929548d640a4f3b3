import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { KeyRound, Plus } from 'lucide-react';
import { apiKeysQuery } from '../../data/queries.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { MoreRows } from '../../ui/more.tsx';
import { Empty, LoadError } from '../../ui/notice.tsx';
import { Page } from '../../ui/page.tsx';
import { SkeletonRows } from '../../ui/skeleton.tsx';
import { Table, Th } from '../../ui/table.tsx';
import { CreateKey } from './create-key.tsx';
import { KeyRow } from './key-row.tsx';

const route = getRouteApi('/shell/keys');

const HEAD = (
  <>
    <Th>Name</Th>
    <Th className="max-md:hidden">Key</Th>
    <Th className="max-md:hidden">Scope</Th>
    <Th className="max-lg:hidden">Created</Th>
    <Th className="max-md:hidden">Last used</Th>
    <Th>
      <span className="sr-only">Actions</span>
    </Th>
  </>
);

export const Keys = () => {
  const { create = false } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useInfiniteQuery(apiKeysQuery);
  const keys = query.data?.pages.flatMap(({ data }) => data);
  const showCreate = (isOpen: boolean) =>
    void navigate({ search: isOpen ? { create: true } : {}, replace: true });
  const createButton = (
    <Button variant="solid" onClick={() => showCreate(true)}>
      <Plus aria-hidden />
      Create API key
    </Button>
  );

  return (
    <Page
      title="API keys"
      hint="API keys authenticate your applications. Verify-only keys are safe to ship inside them."
      actions={createButton}
    >
      <Card>
        {query.isError && !keys ? (
          <LoadError error={query.error} onRetry={() => void query.refetch()} />
        ) : keys?.length === 0 ? (
          <Empty icon={<KeyRound />} title="No API keys yet" action={createButton}>
            Your application sends an API key with every call, in the x-api-key header.
          </Empty>
        ) : (
          <>
            <Table label="API keys" head={HEAD}>
              {keys ? (
                keys.map((apiKey) => <KeyRow key={apiKey.id} apiKey={apiKey} />)
              ) : (
                <SkeletonRows columns={6} />
              )}
            </Table>
            <MoreRows query={query} />
          </>
        )}
      </Card>
      <CreateKey isOpen={create} onClose={() => showCreate(false)} />
    </Page>
  );
};
