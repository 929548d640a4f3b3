import { hc, type InferResponseType } from 'hono/client';
import type { App } from '../../app.ts';
import { ApiError, type ErrorBody, unreachable } from './error.ts';

// The calls of the portal's page. A customer has a session of their own, and no dashboard.

/** From the path `/portal/{slug}`. */
export const slug = decodeURIComponent(location.pathname.split('/')[2] ?? '');

export const portal = hc<App>('/')['portal-api'][':slug'];

type Ok<Endpoint> = InferResponseType<Endpoint>;
export type PortalPage = Ok<typeof portal.$get>;
export type CustomersLicense = Ok<typeof portal.licenses.$get>['data'][number];
export type LicenseDetails = Ok<(typeof portal.licenses)[':id']['$get']>;
export type PortalMachine = LicenseDetails['activations'][number];
export type PortalSession = Ok<typeof portal.session.$post>;
export type SessionEntry = Ok<typeof portal.sessions.$get>['data'][number];

let onSignedOut = () => {};
/** Sets what happens when a call finds out that the customer's session has ended. */
export const setSignedOutListener = (listener: () => void) => {
  onSignedOut = listener;
};

interface Response<T> {
  ok: boolean;
  status: number;
  headers: Headers;
  json: () => Promise<T>;
}

const waitText = (headers: Headers): string => {
  const minutes = Math.ceil(Number(headers.get('retry-after') ?? 60) / 60);
  if (minutes > 90) return `${Math.ceil(minutes / 60)} hours`;
  return minutes === 1 ? 'a minute' : `${minutes} minutes`;
};

/** Returns the body of a successful response, and throws an `ApiError` otherwise. */
export const ask = async <T>(request: Promise<Response<T>>): Promise<T> => {
  let response: Response<T>;
  try {
    response = await request;
  } catch (error) {
    throw unreachable(error);
  }
  if (response.ok) return response.json();
  const body = (await response.json().catch(() => null)) as { error?: ErrorBody } | null;
  const fallback = { code: 'unexpected', message: 'Something went wrong', request_id: '' };
  const error = body?.error ?? fallback;
  if (response.status === 429)
    error.message = `Too many attempts. Try again in ${waitText(response.headers)}.`;
  if (error.code === 'portal_session_required') onSignedOut();
  throw new ApiError(response.status, error);
};
