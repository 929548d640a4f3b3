import type { Context, ErrorHandler } from 'hono';
import * as z from 'zod';
import { isDatabaseError, isFenced } from '../db/errors.ts';
import { AppError, type ErrorCode } from '../shared/app-error.ts';
import { ConfigError } from '../shared/config/settings.ts';
import { describeError } from '../shared/text/log.ts';
import type { AppEnv } from './context.ts';

// Turns errors into responses, and defines the status code and default message of each error code.

type ErrorStatus = 400 | 401 | 403 | 404 | 405 | 409 | 412 | 413 | 415 | 429 | 500 | 503;

export const ERRORS: Record<ErrorCode, { status: ErrorStatus; message: string }> = {
  invalid_json: { status: 400, message: 'Malformed JSON' },
  invalid_request: { status: 400, message: 'Invalid Request' },
  invalid_token: { status: 400, message: 'Invalid or Expired Token' },
  api_key_required: { status: 401, message: 'API Key Required' },
  invalid_signature: { status: 401, message: 'Missing or Wrong Signature' },
  invalid_session: { status: 401, message: 'Invalid or Expired Session' },
  two_factor_required: { status: 401, message: 'A Code From Your Authenticator App Is Required' },
  invalid_credentials: { status: 401, message: 'Wrong Email or Password' },
  portal_session_required: { status: 401, message: 'Sign In to See Your Licenses' },
  reauthentication_required: { status: 401, message: 'Enter Your Password or a Code Again' },
  api_key_invalid: { status: 403, message: 'Invalid API Key' },
  insufficient_scope: { status: 403, message: 'This API Key Is Limited to Application Calls' },
  origin_not_allowed: { status: 403, message: 'Origin Not Allowed' },
  ip_not_allowed: { status: 403, message: 'This API Key Can’t Be Used From This Address' },
  https_required: { status: 403, message: 'HTTPS Required' },
  registration_closed: { status: 403, message: 'Registration Is Closed' },
  account_suspended: { status: 403, message: 'This Account Is Suspended' },
  portal_disabled: { status: 403, message: 'The Portal Is Off, or Doesn’t Allow This' },
  license_limit_reached: { status: 403, message: 'License Limit Reached' },
  storage_limit_reached: { status: 403, message: 'Storage Limit Reached' },
  limit_reached: { status: 403, message: 'Limit Reached' },
  api_key_not_found: { status: 404, message: 'API Key Not Found' },
  license_not_found: { status: 404, message: 'License Not Found' },
  webhook_not_found: { status: 404, message: 'Webhook Not Found' },
  product_not_found: { status: 404, message: 'Product Not Found' },
  activation_not_found: { status: 404, message: 'Activation Not Found' },
  not_found: { status: 404, message: 'Not Found' },
  method_not_allowed: { status: 405, message: 'Method Not Allowed' },
  email_taken: { status: 409, message: 'An Account With This Email Already Exists' },
  license_key_taken: { status: 409, message: 'This License Key Already Exists' },
  slug_taken: { status: 409, message: 'Another Portal Has This Slug' },
  invalid_transition: { status: 409, message: 'Not Possible in the Current State' },
  idempotency_conflict: { status: 409, message: 'This Idempotency Key Was Used With a Different Body' },
  no_active_subscription: { status: 409, message: 'No Active Subscription' },
  product_in_use: { status: 409, message: 'Licenses Still Name This Product' },
  no_seat: { status: 409, message: 'All Seats Are Taken' },
  precondition_failed: { status: 412, message: 'Changed Since It Was Read' },
  body_too_large: { status: 413, message: 'Body Too Large' },
  unsupported_media_type: { status: 415, message: 'The Body Must Be JSON' },
  rate_limit_exceeded: { status: 429, message: 'Rate Limit Exceeded' },
  usage_limit_exceeded: { status: 429, message: 'API Usage Limit Exceeded' },
  internal_error: { status: 500, message: 'Internal Server Error' },
  unavailable: { status: 503, message: 'Service Unavailable' },
};

export const errorBody = z
  .object({
    error: z.object({
      code: z.enum(Object.keys(ERRORS) as [ErrorCode, ...ErrorCode[]]),
      message: z.string(),
      request_id: z.string(),
      details: z
        .array(z.object({ path: z.string(), message: z.string() }))
        .optional()
        .meta({ description: 'The invalid fields, or the limit that was reached. Absent otherwise.' }),
    }),
  })
  .meta({ id: 'Error' });

export const errorResponse = (c: Context<AppEnv>, error: AppError) => {
  const { status, message } = ERRORS[error.code];
  const { details, retryAfterSeconds, headers = {} } = error.options;
  c.set('errorCode', error.code);
  if (retryAfterSeconds !== undefined) c.header('Retry-After', String(retryAfterSeconds));
  for (const [name, value] of Object.entries(headers)) c.header(name, value);
  return c.json(
    {
      error: {
        code: error.code,
        message: error.options.message ?? message,
        request_id: c.get('requestId'),
        ...(details && { details }),
      },
    } satisfies z.infer<typeof errorBody>,
    status,
  );
};

/** Whether the gate was moved, restarted or overloaded. The platform sets these properties on the error. */
const isGateOutage = (error: Error): boolean => {
  const { retryable, overloaded, durableObjectReset } = error as Error & Record<string, unknown>;
  return retryable === true || overloaded === true || durableObjectReset === true;
};

/** A move refuses changes for some seconds, and for minutes if the account is large. */
const MOVING_RETRY_SECONDS = 10;

/** Maps an unexpected error to a generic AppError. The original becomes the cause, which is only logged. */
const toAppError = (error: Error): AppError => {
  // Also as the cause of an error that says no more than that the change failed.
  if (isFenced(error))
    return new AppError('unavailable', {
      message: 'The account is moving to another database. Try again in a few seconds.',
      retryAfterSeconds: MOVING_RETRY_SECONDS,
    });
  if (error instanceof AppError) return error;
  const unavailable = error instanceof ConfigError || isDatabaseError(error) || isGateOutage(error);
  return new AppError(unavailable ? 'unavailable' : 'internal_error', { cause: error });
};

export const onError: ErrorHandler<AppEnv> = (error, c) => {
  const appError = toAppError(error);
  if (appError.options.cause) c.set('fault', describeError(appError.options.cause));
  return errorResponse(c, appError);
};
