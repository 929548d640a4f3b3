import { unreachable } from './error.ts';

export interface VerifyResponse {
  status: number;
  ms: number;
  sentAt: string;
  headers: { name: string; value: string }[];
  body: string;
}

const PATH = '/api/v1/licenses/verify';
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

const bodyOf = (licenseKey: string) => JSON.stringify({ license_key: licenseKey });

/** Keys need no escaping: neither license keys nor API keys contain quotes. */
export const verifyCommand = (origin: string, apiKey: string, licenseKey: string): string =>
  [
    `curl ${origin}${PATH} \\`,
    `  -H 'x-api-key: ${apiKey}' \\`,
    `  -H 'content-type: application/json' \\`,
    `  -d '${bodyOf(licenseKey)}'`,
  ].join('\n');

const pretty = (text: string): string => {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
};

/** Sends what an application would send, without the session cookie. Error responses are returned as well. */
export const sendVerify = async (apiKey: string, licenseKey: string): Promise<VerifyResponse> => {
  const sentAt = new Date().toISOString();
  const startMs = performance.now();
  const response = await fetch(PATH, {
    method: 'POST',
    credentials: 'omit',
    headers: { 'content-type': 'application/json', 'x-api-key': apiKey },
    body: bodyOf(licenseKey),
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
