import { Toast } from '@base-ui/react/toast';
import { CircleAlert, CircleCheck, X } from 'lucide-react';
import { ApiError, errorMessage } from '../data/error.ts';

const manager = Toast.createToastManager();

/** Shows a toast for a completed action. */
export const showToast = (title: string) => {
  manager.add({ title, type: 'done' });
};

/** Shows an error that has no place on the page as a toast. */
export const showError = (error: unknown) => {
  const id = error instanceof ApiError ? error.requestId : '';
  manager.add({
    title: errorMessage(error),
    ...(id !== '' && { description: `Request ${id}` }),
    type: 'error',
    priority: 'high',
    timeout: 10_000,
  });
};

const List = () =>
  Toast.useToastManager().toasts.map((toast) => (
    <Toast.Root
      key={toast.id}
      toast={toast}
      swipeDirection={['right', 'down']}
      className="flex items-start gap-2.5 rounded-lg border border-line bg-raised px-3.5 py-3 shadow-pop transition-[opacity,translate] duration-200 data-ending-style:opacity-0 data-starting-style:translate-y-2 data-starting-style:opacity-0"
    >
      {toast.type === 'error' ? (
        <CircleAlert aria-hidden className="mt-0.5 size-4 shrink-0 text-bad" />
      ) : (
        <CircleCheck aria-hidden className="mt-0.5 size-4 shrink-0 text-good" />
      )}
      <div className="min-w-0 flex-1">
        <Toast.Title className="text-base font-medium" />
        <Toast.Description className="text-xs text-muted" />
      </div>
      <Toast.Close aria-label="Dismiss" className="text-muted hover:text-ink">
        <X aria-hidden className="size-4" />
      </Toast.Close>
    </Toast.Root>
  ));

export const Toasts = () => (
  <Toast.Provider toastManager={manager} timeout={4_000}>
    <Toast.Portal>
      <Toast.Viewport className="fixed right-4 bottom-4 z-50 flex w-[min(22rem,calc(100vw-2rem))] flex-col gap-2">
        <List />
      </Toast.Viewport>
    </Toast.Portal>
  </Toast.Provider>
);
