import { Dialog } from '@base-ui/react/dialog';
import { Link, Outlet, useRouterState } from '@tanstack/react-router';
import { BookText, Menu as MenuIcon, Search, X } from 'lucide-react';
import { lazy, Suspense, useCallback, useEffect, useRef, useState } from 'react';
import { follow } from '../data/following.ts';
import { IconButton } from '../ui/button.tsx';
import { Logo } from '../ui/logo.tsx';
import { AccountMenu } from './account-menu.tsx';
import { usePages } from './navigation.ts';
import { OfflineNotice } from './offline-notice.tsx';
import { useTypedAhead } from './palette/typed-ahead.ts';

const Palette = lazy(() => import('./palette/palette.tsx'));

const PALETTE_KEY = /Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘K' : 'Ctrl K';

const NAV_ITEM =
  'flex h-8.5 items-center gap-2.5 rounded-lg px-2.5 text-base text-muted transition-colors hover:bg-line/50 hover:text-ink [&_svg]:size-4';

const Brand = () => (
  <Link to="/" className="flex items-center gap-2.5 rounded-md text-lg font-semibold tracking-tight">
    <Logo />
    Latchkey
  </Link>
);

const Navigation = ({ onSearch, onGo }: { onSearch: () => void; onGo?: () => void }) => (
  <>
    <button
      type="button"
      onClick={onSearch}
      className="mb-3 flex h-9 w-full items-center gap-2 rounded-lg border border-line bg-surface px-2.5 text-base text-muted shadow-card transition-colors hover:border-line-strong"
    >
      <Search aria-hidden className="size-4" />
      <span className="flex-1 text-left">Search</span>
      <kbd className="rounded border border-line px-1.5 text-xs">{PALETTE_KEY}</kbd>
    </button>
    <nav aria-label="Main" className="grid gap-0.5">
      {usePages().map(({ to, name, icon: Icon }) => (
        <Link
          key={to}
          to={to}
          onClick={onGo}
          activeOptions={{ exact: to === '/', includeSearch: false }}
          activeProps={{ className: 'bg-line/70 text-ink! font-medium' }}
          className={NAV_ITEM}
        >
          <Icon aria-hidden />
          {name}
        </Link>
      ))}
    </nav>
    <div className="mt-auto grid grid-cols-[minmax(0,1fr)] gap-0.5 pt-4">
      <a href="/docs" target="_blank" rel="noreferrer" className={NAV_ITEM}>
        <BookText aria-hidden />
        Guides
      </a>
      <AccountMenu onGo={onGo} />
    </div>
  </>
);

/** Moves the focus to the new page, so that screen readers start reading there. */
const useFocusOnNavigation = () => {
  const main = useRef<HTMLElement>(null);
  const pathname = useRouterState({ select: ({ resolvedLocation }) => resolvedLocation?.pathname });
  const before = useRef(pathname);
  useEffect(() => {
    if (before.current !== undefined && before.current !== pathname)
      main.current?.focus({ preventScroll: true });
    before.current = pathname;
  }, [pathname]);
  return main;
};

const usePaletteKey = (toggle: () => void) =>
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.metaKey || event.ctrlKey)) return;
      event.preventDefault();
      if (!event.repeat) toggle();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [toggle]);

/** The pages that show what an event may change. */
const FOLLOWING = /^\/($|licenses|customers|purchases)/;

const useFollowing = () => {
  const isFollowing = useRouterState({ select: ({ location }) => FOLLOWING.test(location.pathname) });
  useEffect(() => (isFollowing ? follow() : undefined), [isFollowing]);
};

export const Shell = () => {
  const [isPaletteOpen, setPaletteOpen] = useState(false);
  const [hasOpenedPalette, setHasOpenedPalette] = useState(false);
  const [isDrawerOpen, setDrawerOpen] = useState(false);
  const main = useFocusOnNavigation();
  if (isPaletteOpen && !hasOpenedPalette) setHasOpenedPalette(true);
  const openPalette = () => {
    setDrawerOpen(false);
    setPaletteOpen(true);
  };
  const togglePalette = useCallback(() => {
    setDrawerOpen(false);
    setPaletteOpen((isOpen) => !isOpen);
  }, []);
  usePaletteKey(togglePalette);
  const takeTyped = useTypedAhead(isPaletteOpen);
  useFollowing();

  return (
    <div className="min-h-dvh lg:grid lg:grid-cols-[15rem_minmax(0,1fr)]">
      <a
        href="#main"
        className="sr-only z-50 rounded-lg bg-ink px-3 py-2 text-canvas focus:not-sr-only focus:fixed focus:top-2 focus:left-2"
      >
        Skip to content
      </a>
      <aside className="sticky top-0 hidden h-dvh flex-col border-r border-line px-3 py-4 lg:flex">
        <div className="px-2 pb-4">
          <Brand />
        </div>
        <Navigation onSearch={openPalette} />
      </aside>
      <header className="sticky top-0 z-30 flex h-14 items-center justify-between border-b border-line bg-canvas px-4 lg:hidden">
        <Brand />
        <div className="flex gap-1">
          <IconButton label="Search" onClick={openPalette}>
            <Search aria-hidden />
          </IconButton>
          <Dialog.Root open={isDrawerOpen} onOpenChange={setDrawerOpen}>
            <Dialog.Trigger render={<IconButton label="Menu" />}>
              <MenuIcon aria-hidden />
            </Dialog.Trigger>
            <Dialog.Portal>
              <Dialog.Backdrop className="fixed inset-0 z-40 bg-veil transition-opacity duration-150 data-ending-style:opacity-0 data-starting-style:opacity-0" />
              <Dialog.Popup className="fixed inset-y-0 right-0 z-40 flex w-[min(18rem,85vw)] flex-col bg-canvas px-3 py-4 shadow-pop transition-transform duration-200 outline-none data-ending-style:translate-x-full data-starting-style:translate-x-full">
                <div className="flex items-center justify-between px-2 pb-4">
                  <Dialog.Title className="text-lg font-semibold">Menu</Dialog.Title>
                  <Dialog.Close render={<IconButton label="Close" />}>
                    <X aria-hidden />
                  </Dialog.Close>
                </div>
                <Navigation onSearch={openPalette} onGo={() => setDrawerOpen(false)} />
              </Dialog.Popup>
            </Dialog.Portal>
          </Dialog.Root>
        </div>
      </header>
      <main id="main" ref={main} tabIndex={-1} className="min-w-0 outline-none">
        <OfflineNotice />
        <Outlet />
      </main>
      {hasOpenedPalette && (
        <Suspense
          fallback={
            <p role="status" className="sr-only">
              Loading search…
            </p>
          }
        >
          <Palette isOpen={isPaletteOpen} onOpenChange={setPaletteOpen} takeTyped={takeTyped} />
        </Suspense>
      )}
    </div>
  );
};
