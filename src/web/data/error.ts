interface FieldError {
  path: string;
  message: string;
}

export interface ErrorBody {
  code: string;
  message: string;
  request_id: string;
  details?: FieldError[];
}

/** A throttled login has to wait for minutes, which is too long to retry without the user. */
const MAX_RETRY_AFTER_MS = 5_000;

interface ErrorOptions {
  cause?: unknown;
  /** From the Retry-After header. */
  retryAfterMs?: number | null;
}

/** An error response from the API. `status` is 0 if there was no response. */
export class ApiError extends Error {
  readonly code: string;
  readonly requestId: string;
  readonly details: FieldError[];
  readonly status: number;
  readonly retryAfterMs: number | null;

  constructor(
    status: number,
    { code, message, request_id, details = [] }: ErrorBody,
    { cause, retryAfterMs = null }: ErrorOptions = {},
  ) {
    super(message, { cause });
    this.name = 'ApiError';
    this.status = status;
    this.code = code;
    this.requestId = request_id;
    this.details = details;
    this.retryAfterMs = retryAfterMs;
  }

  /** Whether a rate limit that recovers within seconds refused the request, which then had no effect. */
  get isTooFast(): boolean {
    return this.status === 429 && this.retryAfterMs !== null && this.retryAfterMs <= MAX_RETRY_AFTER_MS;
  }

  /** Whether the same request may succeed soon. */
  get isTransient(): boolean {
    return this.status === 0 || this.isTooFast || this.status >= 500;
  }
}

export const unreachable = (cause: unknown) =>
  new ApiError(
    0,
    { code: 'unreachable', message: 'The service can’t be reached', request_id: '' },
    { cause },
  );

export const errorMessage = (error: unknown): string =>
  error instanceof Error ? error.message : 'Something went wrong';

/** An error for a form field, in the same format as an API error. */
export const invalidField = (path: string, message: string) =>
  new ApiError(400, {
    code: 'invalid_request',
    message: 'Invalid Request',
    request_id: '',
    details: [{ path, message }],
  });

/** Returns a `.catch()` handler that rewords errors with this code and rethrows every error. */
export const reword =
  (code: string, changes: Partial<Pick<ErrorBody, 'message' | 'details'>>) =>
  (error: unknown): never => {
    if (!(error instanceof ApiError) || error.code !== code) throw error;
    const { status, message, requestId, details, retryAfterMs } = error;
    const body = { code, message, request_id: requestId, details, ...changes };
    throw new ApiError(status, body, { cause: error, retryAfterMs });
  };
