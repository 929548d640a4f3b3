import { useNavigate } from '@tanstack/react-router';
import { api, call } from '../data/client.ts';
import { ApiError } from '../data/error.ts';
import { forgetSession } from '../data/session.ts';
import { tellError } from '../ui/toast.tsx';

export const useSignOut = () => {
  const navigate = useNavigate();
  const signOut = async () => {
    try {
      await call(api.logout.$post());
    } catch (error) {
      // A session that had ended already leads to signing in by itself; any other lives on, and has to be told of.
      if (!(error instanceof ApiError && error.status === 401)) tellError(error);
      return;
    }
    forgetSession();
    await navigate({ to: '/login' });
  };
  return () => void signOut();
};
