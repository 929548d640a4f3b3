// Fills an example's placeholders, such as `{license}`, with the values of an account.
import type { ExampleRequest } from './requests.ts';

export type Values = Record<string, string>;

export interface FilledRequest {
  path: string;
  headers: Record<string, string>;
  body: string | undefined;
}

const fillIn = (text: string, values: Values): string =>
  text.replace(/\{([a-z_]+)\}/g, (placeholder, name: string) => values[name] ?? placeholder);

const textOf = (body: unknown): string | undefined =>
  typeof body === 'string' || body === undefined ? body : JSON.stringify(body);

/** The request as it is sent, but for the credential. `route` is a path such as `/api/webhooks/:id`. */
export const fillRequest = (
  { path = [], query, headers = {}, body }: ExampleRequest,
  route: string,
  values: Values,
): FilledRequest => {
  const parameters = [...path];
  const filled = route.replace(/:[a-z_]+/g, (name) => fillIn(parameters.shift() ?? name, values));
  const text = textOf(body);
  return {
    path: query === undefined ? filled : `${filled}?${fillIn(query, values)}`,
    headers: { ...(text !== undefined && { 'content-type': 'application/json' }), ...headers },
    body: text === undefined ? undefined : fillIn(text, values),
  };
};
