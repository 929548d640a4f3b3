import { Button } from './button.tsx';
import { FormError } from './notice.tsx';

interface PagedQuery {
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
  isFetchNextPageError: boolean;
  error: unknown;
  fetchNextPage: () => Promise<unknown>;
}

/** The button below a list that loads its next page. */
export const MoreRows = ({ query }: { query: PagedQuery }) =>
  query.hasNextPage ? (
    <div className="grid justify-items-center gap-2 border-t border-line p-3">
      {query.isFetchNextPageError && <FormError error={query.error} />}
      <Button
        size="sm"
        variant="quiet"
        isBusy={query.isFetchingNextPage}
        onClick={() => void query.fetchNextPage()}
      >
        Show more
      </Button>
    </div>
  ) : null;
