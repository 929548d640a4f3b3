import { useNavigate } from '@tanstack/react-router';
import { api, call } from '../data/client.ts';
import { forgetSession } from '../data/session.ts';
import { tellError } from '../ui/toast.tsx';

export const useSignOut = () => {
  const navigate = useNavigate();
  const signOut = async () => {
    try {
      await call(api.logout.$post());
    } catch (error) {
      // The session lives on, and who believes to be signed out would leave it behind.
      tellError(error);
      return;
    }
    forgetSession();
    await navigate({ to: '/login' });
  };
  return () => void signOut();
};
