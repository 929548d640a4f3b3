import { useState } from 'react';
import { ApiError } from '../../data/error.ts';

/** Returns the token of a link. It is in the fragment, which browsers don't send. */
export const useToken = (name = 'token'): string | null => {
  const [token] = useState(() => new URLSearchParams(location.hash.slice(1)).get(name));
  return token;
};

/** Whether the token was refused, because it is used or too old. */
export const isBadToken = (error: unknown): boolean =>
  error instanceof ApiError && error.code === 'invalid_token';
