// One JSON object a line. What looks like one of our secrets is blanked, wherever it came from.

const SECRETS = /\b(lk_live_|lks_|whsec_)[\w+/=-]{4,}/g;

export type LogFields = Record<string, string | number | boolean | null | undefined>;

export const redact = (text: string) => text.replace(SECRETS, '$1[redacted]');

/** How drizzle begins the message of a failed query, which goes on to quote the query's parameters. */
const FAILED_QUERY = 'Failed query';

/** An error's own words and where it arose. */
export const describeError = (error: unknown): { error: string; stack?: string } => {
  if (!(error instanceof Error)) return { error: redact(String(error)) };
  if (error.message.startsWith(FAILED_QUERY)) return describeError(error.cause ?? FAILED_QUERY);
  return {
    error: redact(`${error.name}: ${error.message}`),
    stack: redact((error.stack ?? '').split('\n').slice(1, 8).join('\n')),
  };
};

export const logLine = (level: 'info' | 'error', fields: LogFields) =>
  console[level === 'info' ? 'log' : 'error'](JSON.stringify({ level, ...fields }));

export const logError = (event: string, error: unknown, fields: LogFields = {}) =>
  logLine('error', { event, ...fields, ...describeError(error) });
