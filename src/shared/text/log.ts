// Writes log lines as JSON objects. Anything in an error that looks like one of our secrets is redacted.

import { AppError } from '../app-error.ts';

const SECRETS = /\b(lk_live_|lks_|lkt_|whsec_)[\w+/=-]{4,}/g;

export type LogFields = Record<string, string | number | boolean | null | undefined>;

const redact = (text: string) => text.replace(SECRETS, '$1[redacted]');

/** Drizzle's message for a failed query starts like this and then quotes the query's parameters. */
const FAILED_QUERY = 'Failed query';

/** Returns an error's name, message and stack as log fields. */
export const describeError = (error: unknown): { error: string; stack?: string } => {
  if (!(error instanceof Error)) return { error: redact(String(error)) };
  // What a caller is told says nothing of the reason.
  if (error instanceof AppError && error.options.cause) return describeError(error.options.cause);
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
