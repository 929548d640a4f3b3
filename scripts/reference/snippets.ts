// An example as a command of curl, and as a call of the client package.
import type { Access } from '../../src/http/openapi.ts';
import type { FilledRequest } from './fill.ts';
import type { ExampleRequest } from './requests.ts';

const BASE_URL = 'https://latchkey.example.com';

export interface Called {
  method: string;
  /** As in the document, such as `/api/api-keys/{id}`. */
  path: string;
  access: Access;
  request: ExampleRequest;
  filled: FilledRequest;
  /** The values of the path's parameters, by name. */
  parameters: Record<string, string>;
}

const isJson = ({ headers }: FilledRequest) => headers['content-type'] === 'application/json';

const credentialOf = ({ access, request }: Called): string[] => {
  if (access === 'public') return [];
  return request.bySession ? ['-H "authorization: Bearer $TOKEN"'] : ['-H "x-api-key: $API_KEY"'];
};

const commentOf = ({ access, request }: Called): string => {
  if (access === 'public') return '';
  if (request.bySession) return '# TOKEN is the token of your session\n';
  return `# API_KEY is an API key ${access === 'key' ? 'of scope verify' : 'of scope full'}\n`;
};

const pretty = ({ body = '', ...filled }: FilledRequest): string =>
  isJson({ body, ...filled }) ? JSON.stringify(JSON.parse(body), null, 2) : body;

const quoted = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`;

export const curlOf = (called: Called): string => {
  const { method, filled } = called;
  const { path, headers, body } = filled;
  const isImplied = method === (body === undefined ? 'GET' : 'POST');
  const parts = [
    `curl ${isImplied ? '' : `-X ${method} `}"${BASE_URL}${path}"`,
    ...credentialOf(called),
    ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`${isJson(filled) ? '-d' : '--data-binary'} ${quoted(pretty(filled))}`]),
  ];
  return commentOf(called) + parts.join(' \\\n  ');
};

/** JSON as a literal of JavaScript. */
const literalOf = (value: unknown, indent: string): string =>
  JSON.stringify(value, null, 2)
    .replace(/^(\s*)"([A-Za-z_]\w*)":/gm, '$1$2:')
    .replaceAll('\n', `\n${indent}`);

const APPLICATION = `import { createLicense } from '@latchkey/client/node';
import keys from './latchkey-keys.json' with { type: 'json' };

const license = createLicense({
  baseUrl: '${BASE_URL}',
  apiKey: 'lk_live_…', // of scope verify
  keys,
  product: 'orrery',
  dir: settingsFolder,
});
`;

/** The four calls of an application. The client package sends heartbeats by itself. */
const APPLICATION_CALLS: Record<string, string> = {
  verifyLicense: 'const state = await license.start(); // reads the stored token, and verifies',
  activateLicense: "const state = await license.activate('7K3QD-9WZXA-M2RTB-H5NVE-40GPW');",
  sendHeartbeat: 'await license.start(); // sends heartbeats from now on, if the license has a lease',
  deactivateLicense: 'await license.deactivate();',
};

const queryOf = ({ path }: FilledRequest) => Object.fromEntries(new URL(path, BASE_URL).searchParams);

/** Null for what isn't called with an API key, or has a file for a body. */
export const clientCallOf = (called: Called): string | null => {
  const { method, path, access, request, filled, parameters } = called;
  const call = APPLICATION_CALLS[request.operation];
  if (call !== undefined) return `${APPLICATION}${call}`;
  if (access !== 'account' || request.bySession || (filled.body !== undefined && !isJson(filled)))
    return null;
  const query = queryOf(filled);
  const params = {
    ...(Object.keys(parameters).length > 0 && { path: parameters }),
    ...(Object.keys(query).length > 0 && { query }),
  };
  const options = {
    ...(Object.keys(params).length > 0 && { params }),
    ...(filled.body !== undefined && { body: JSON.parse(filled.body) as unknown }),
  };
  const passed = Object.keys(options).length > 0 ? `, ${literalOf(options, '')}` : '';
  return `import { createClient } from '@latchkey/client/api';

const api = createClient({ baseUrl: '${BASE_URL}', apiKey: process.env.LATCHKEY_API_KEY });
const { data, error } = await api.${method}('${path}'${passed});`;
};
