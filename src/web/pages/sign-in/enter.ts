import { useRouter } from '@tanstack/react-router';
import { rememberSession } from '../../data/session.ts';

/** What follows on a right password: back to where one was. */
export const useEnter = (next: string | undefined) => {
  const router = useRouter();
  return async (accountId: string) => {
    rememberSession(accountId);
    await router.navigate({ href: next ?? '/', replace: true });
  };
};
