import { CSPProvider } from '@base-ui/react/csp-provider';
import { Tooltip } from '@base-ui/react/tooltip';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { lazy, StrictMode, Suspense } from 'react';
import { createRoot } from 'react-dom/client';
import { setSessionLostListener } from './data/client.ts';
import { queryClient } from './data/query-client.ts';
import { followOtherTabs, loseSession, signedInAccountId } from './data/session.ts';
import { correctLanguage, reloadAfterDeployment, reloadForLinks } from './lib/loading.ts';
import { router } from './router.tsx';
import './styles.css';
import { Toasts } from './ui/toast.tsx';

setSessionLostListener(() => {
  if (signedInAccountId() === null) return;
  loseSession();
  const { href } = router.state.location;
  void router.navigate({
    to: '/login',
    search: { next: href, lost: true },
    replace: true,
    ignoreBlocker: true,
  });
});
followOtherTabs();
reloadAfterDeployment();
reloadForLinks();
correctLanguage();

// Dialogs and forms aren't part of the first script.
const ProofPrompt = lazy(async () => ({ default: (await import('./ui/proof-prompt.tsx')).ProofPrompt }));

createRoot(document.querySelector('#root') as HTMLElement).render(
  <StrictMode>
    <CSPProvider disableStyleElements>
      <QueryClientProvider client={queryClient}>
        <Tooltip.Provider delay={350}>
          <RouterProvider router={router} />
          <Toasts />
          <Suspense>
            <ProofPrompt />
          </Suspense>
        </Tooltip.Provider>
      </QueryClientProvider>
    </CSPProvider>
  </StrictMode>,
);
