import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { ApiError } from '../data/error.ts';
import { logOut } from '../data/mutations.ts';
import { forgetSession } from '../data/session.ts';
import { showError } from '../ui/toast.tsx';

export const useSignOut = () => {
  const navigate = useNavigate();
  const { mutate } = useMutation({
    ...logOut,
    onSuccess: () => {
      forgetSession();
      return navigate({ to: '/login', ignoreBlocker: true });
    },
    onError: (error) => {
      // If the session has already ended, the sign-in page opens anyway.
      if (!(error instanceof ApiError && error.status === 401)) showError(error);
    },
  });
  return () => mutate();
};
