import { type ErrorComponentProps, useRouter } from '@tanstack/react-router';
import { ButtonLink } from '../ui/button.tsx';
import { LoadError } from '../ui/notice.tsx';
import { Page } from '../ui/page.tsx';

export const NotFound = () => (
  <main>
    <Page title="Nothing here" hint="There is no page at this address.">
      <div>
        <ButtonLink to="/" variant="solid">
          Go home
        </ButtonLink>
      </div>
    </Page>
  </main>
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
