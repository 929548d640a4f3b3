import type { ApiClient } from './client.ts';
import type { components } from './schema.ts';

/** Whose licenses the customer manages: one license, or all of an address. */
export type ManageInput = components['schemas']['OpenPortal'];

/**
 * Returns the link behind “Manage license” in an application: it signs the customer in to your portal, once, within five
 * minutes. It takes an API key of scope `full`, so call it on your server.
 *
 * @example
 * app.get('/manage-license', async (request, response) => {
 *   response.redirect(await manageUrl(api, { license_id: request.user.licenseId }));
 * });
 */
export const manageUrl = async (api: ApiClient, body: ManageInput): Promise<string> => {
  const { data, error } = await api.POST('/api/v1/portal-sessions', { body });
  if (data) return data.url;
  const { code, message } = error?.error ?? { code: 'unexpected', message: 'The service gave no link' };
  throw new Error(`${message} (${code})`);
};
