/** Every error code of the API. `http/errors.ts` maps them to status codes and messages. */
export type ErrorCode =
  | 'invalid_json'
  | 'invalid_request'
  | 'invalid_token'
  | 'api_key_required'
  | 'invalid_signature'
  | 'invalid_session'
  | 'invalid_credentials'
  | 'reauthentication_required'
  | 'api_key_invalid'
  | 'insufficient_scope'
  | 'origin_not_allowed'
  | 'ip_not_allowed'
  | 'https_required'
  | 'registration_closed'
  | 'account_suspended'
  | 'portal_session_required'
  | 'portal_disabled'
  | 'license_limit_reached'
  | 'storage_limit_reached'
  | 'limit_reached'
  | 'api_key_not_found'
  | 'license_not_found'
  | 'webhook_not_found'
  | 'product_not_found'
  | 'activation_not_found'
  | 'not_found'
  | 'method_not_allowed'
  | 'two_factor_required'
  | 'email_taken'
  | 'license_key_taken'
  | 'slug_taken'
  | 'invalid_transition'
  | 'idempotency_conflict'
  | 'no_active_subscription'
  | 'product_in_use'
  | 'no_seat'
  | 'precondition_failed'
  | 'body_too_large'
  | 'unsupported_media_type'
  | 'rate_limit_exceeded'
  | 'usage_limit_exceeded'
  | 'internal_error'
  | 'unavailable';

export interface ErrorDetail {
  path: string;
  message: string;
}

export interface ErrorOptions {
  /** Replaces the code's default message. */
  message?: string;
  details?: ErrorDetail[];
  /** When a caller may repeat the call, which is the `Retry-After` of the response. */
  retryAfterSeconds?: number;
  /** Other headers, from code that knows the request. */
  headers?: Record<string, string>;
  cause?: unknown;
}

export class AppError extends Error {
  readonly code: ErrorCode;
  readonly options: ErrorOptions;

  constructor(code: ErrorCode, options: ErrorOptions = {}) {
    super(options.message ?? code, { cause: options.cause });
    this.name = 'AppError';
    this.code = code;
    this.options = options;
  }
}

export const invalidField = (path: string, message: string) =>
  new AppError('invalid_request', { details: [{ path, message }] });

/** The account has as many of something as it may. `path` names what, as in `api_keys`. */
export const limitReached = (path: string, message: string) =>
  new AppError('limit_reached', { message, details: [{ path, message }] });
