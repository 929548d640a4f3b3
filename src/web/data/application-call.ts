import type { CallName } from '../../shared/rules/verdict.ts';
import { unreachable } from './error.ts';

export interface ApplicationCall {
  call: CallName;
  licenseKey: string;
  fingerprint?: string;
}

export interface CallResponse {
  status: number;
  ms: number;
  sentAt: string;
  headers: { name: string; value: string }[];
  body: string;
}

const pathOf = ({ call }: ApplicationCall) => `/api/v1/licenses/${call}`;
const SHOWN_HEADERS = ['RateLimit-Policy', 'RateLimit', 'Retry-After', 'X-Request-Id'];

const STATUS_TEXTS: Record<number, string> = {
  200: 'OK',
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
};

export const statusText = (status: number): string => `${status} ${STATUS_TEXTS[status] ?? ''}`.trim();

const bodyOf = ({ licenseKey, fingerprint }: ApplicationCall) =>
  JSON.stringify({ license_key: licenseKey, ...(fingerprint && { fingerprint }) });

/** Only a fingerprint can contain a quote. */
const quote = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`;

export const curlCommand = (origin: string, apiKey: string, sent: ApplicationCall): string =>
  [
    `curl ${origin}${pathOf(sent)} \\`,
    `  -H 'x-api-key: ${apiKey}' \\`,
    `  -H 'content-type: application/json' \\`,
    `  -d ${quote(bodyOf(sent))}`,
  ].join('\n');

const pretty = (text: string): string => {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
};

/** Sends what an application would send, without the session cookie. Error responses are returned as well. */
export const sendCall = async (apiKey: string, sent: ApplicationCall): Promise<CallResponse> => {
  const sentAt = new Date().toISOString();
  const startMs = performance.now();
  const response = await fetch(pathOf(sent), {
    method: 'POST',
    credentials: 'omit',
    headers: { 'content-type': 'application/json', 'x-api-key': apiKey },
    body: bodyOf(sent),
  }).catch((cause: unknown) => {
    throw unreachable(cause);
  });
  const text = await response.text();
  const ms = Math.round(performance.now() - startMs);
  const headers = SHOWN_HEADERS.flatMap((name) => {
    const value = response.headers.get(name);
    return value === null ? [] : [{ name, value }];
  });
  return { status: response.status, ms, sentAt, headers, body: pretty(text) };
};
