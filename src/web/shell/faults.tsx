import { type ErrorComponentProps, useRouter } from '@tanstack/react-router';
import { ButtonLink } from '../ui/button.tsx';
import { LoadError } from '../ui/notice.tsx';
import { Page } from '../ui/page.tsx';

/** The page for unknown addresses, inside the shell. */
export const NotFound = () => (
  <Page title="Page not found" hint="The address may be mistyped, or the page may have moved.">
    <div>
      <ButtonLink to="/" variant="solid">
        Go to home
      </ButtonLink>
    </div>
  </Page>
);

export const PageFault = ({ error, reset }: ErrorComponentProps) => {
  const router = useRouter();
  const retry = () => {
    reset();
    void router.invalidate();
  };
  return (
    <Page title="This page failed">
      <LoadError error={error} onRetry={retry} />
    </Page>
  );
};
