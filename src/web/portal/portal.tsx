import { useEffect, useState } from 'react';
import { ApiError, errorMessage } from '../data/error.ts';
import { ask, portal, type PortalPage, slug } from '../data/portal.ts';
import { showAccent } from './accent.ts';
import { Home } from './home.tsx';
import { Card, LinkButton, Notice } from './parts.tsx';
import { SignIn } from './sign-in.tsx';
import { takeToken, TokenStep } from './token-step.tsx';

const RETURN_KEY = `portal.return.${slug}`;

type View =
  | { at: 'loading' | 'licenses' }
  | { at: 'failed'; error: unknown }
  | { at: 'sign-in'; notice: string | null }
  | { at: 'token'; token: string };

const CHANGE_NOTICES = {
  waiting:
    'This address is confirmed. Open the link sent to the other address, too: then your licenses move.',
  under_way: 'Your address is changing. With many licenses, that takes a while.',
  done: 'Your licenses have the new address now.',
};

const Failed = ({ error }: { error: unknown }) => {
  const isUnknown = error instanceof ApiError && error.status === 404;
  const isOff = error instanceof ApiError && error.code === 'portal_disabled';
  return (
    <Card title={isUnknown ? 'There is no such page' : isOff ? 'This page is off' : 'That didn’t work'}>
      <p className="text-muted">
        {isUnknown
          ? 'Compare the address with the one in your email.'
          : isOff
            ? 'Ask the seller of your license for help.'
            : errorMessage(error)}
      </p>
    </Card>
  );
};

export const Portal = () => {
  const [page, setPage] = useState<PortalPage | null>(null);
  const [view, setView] = useState<View>({ at: 'loading' });
  const [notice, setNotice] = useState<string | null>(null);
  const returnUrl = sessionStorage.getItem(RETURN_KEY);

  useEffect(() => {
    const show = (found: PortalPage) => {
      setPage(found);
      document.title = `${found.name}: your licenses`;
      showAccent(found.accent_color);
      const token = takeToken();
      setView(token ? { at: 'token', token } : { at: 'licenses' });
    };
    ask(portal.$get({ param: { slug } })).then(show, (error: unknown) => setView({ at: 'failed', error }));
  }, []);

  // Who confirms a change by the old address is signed out, and still reads what has become of it.
  const onSignedOut = (because: string | null = notice) => {
    setNotice(null);
    setView({ at: 'sign-in', notice: because });
  };

  return (
    <div className="min-h-dvh border-t-4 border-accent">
      <header className="mx-auto flex max-w-2xl flex-wrap items-center justify-between gap-3 px-4 pt-6 sm:pt-10">
        <h1 className="min-w-0 text-2xl font-semibold tracking-tight">{page?.name ?? 'Your licenses'}</h1>
        {returnUrl && <LinkButton href={returnUrl}>Back to the application</LinkButton>}
      </header>
      <main className="mx-auto grid max-w-2xl gap-4 px-4 py-6">
        {notice && <Notice tone="good">{notice}</Notice>}
        {view.at === 'loading' && <p className="py-8 text-center text-muted">Loading…</p>}
        {view.at === 'failed' && <Failed error={view.error} />}
        {view.at === 'token' && (
          <TokenStep
            token={view.token}
            onDone={(session) => {
              if (session.return_url) sessionStorage.setItem(RETURN_KEY, session.return_url);
              setNotice(session.email_change && CHANGE_NOTICES[session.email_change]);
              setView({ at: 'licenses' });
            }}
            onOther={() => setView({ at: 'sign-in', notice: null })}
          />
        )}
        {view.at === 'sign-in' && <SignIn notice={view.notice} onDone={() => setView({ at: 'licenses' })} />}
        {view.at === 'licenses' && page && <Home page={page} onSignedOut={onSignedOut} />}
      </main>
      {page?.support_url && (
        <footer className="mx-auto max-w-2xl px-4 pb-10 text-sm text-muted">
          Something else?{' '}
          <a href={page.support_url} className="text-ink underline underline-offset-2">
            Ask {page.name} for help
          </a>
        </footer>
      )}
    </div>
  );
};
