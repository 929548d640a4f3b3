import createFetchClient, { type Client } from 'openapi-fetch';
import type { paths } from './schema.ts';

export interface ApiOptions {
  /** The service's origin. A longer URL of the service, such as `https://…/api/v1/`, works as well. */
  baseUrl: string;
  apiKey: string;
  fetch?: (request: Request) => Promise<Response>;
}

export type ApiClient = Client<paths>;

/** Returns a client with every endpoint of the service's OpenAPI document, typed from it. */
export const createClient = ({ baseUrl, apiKey, fetch }: ApiOptions): ApiClient => {
  // Otherwise, `fetch` would throw an error that contains the API key.
  if (!/^[!-~]*$/.test(apiKey)) throw new TypeError('The API key has characters that no API key has.');
  return createFetchClient<paths>({
    baseUrl: new URL(baseUrl).origin,
    headers: { 'x-api-key': apiKey },
    // A redirect, for example to a captive portal, must not get the API key.
    redirect: 'manual',
    ...(fetch && { fetch }),
  });
};
