import { type ErrorComponentProps, useRouter } from '@tanstack/react-router';
import { ButtonLink } from '../ui/button.tsx';
import { LoadError } from '../ui/notice.tsx';
import { Page } from '../ui/page.tsx';
import { Skeleton } from '../ui/skeleton.tsx';

/** The page for unknown URLs, inside the shell. */
export const NotFound = () => (
  <Page title="Page not found" hint="The address may be mistyped, or the page may have moved.">
    <div>
      <ButtonLink to="/" variant="solid">
        Go to Home
      </ButtonLink>
    </div>
  </Page>
);

/** The page shown if another page fails to load or render. */
export const PageError = ({ error, reset }: ErrorComponentProps) => {
  const router = useRouter();
  const retry = () => {
    reset();
    void router.invalidate();
  };
  return (
    <Page title="This page could not be shown">
      <LoadError error={error} onRetry={retry} />
    </Page>
  );
};

/** Shown while a page's script loads. */
export const PageSkeleton = () => (
  <div aria-busy className="mx-auto w-full max-w-[76rem] px-4 pt-6 sm:px-8 sm:pt-8">
    <Skeleton className="mb-7 h-7 w-40" />
    <Skeleton className="h-72 rounded-xl" />
  </div>
);
