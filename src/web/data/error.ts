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

/** An error response from the API. `status` is 0 if there was no response. */
export class ApiError extends Error {
  readonly code: string;
  readonly requestId: string;
  readonly details: FieldError[];
  readonly status: number;

  constructor(status: number, { code, message, request_id, details = [] }: ErrorBody, cause?: unknown) {
    super(message, { cause });
    this.name = 'ApiError';
    this.status = status;
    this.code = code;
    this.requestId = request_id;
    this.details = details;
  }

  /** Whether the same request may succeed later. */
  get isTransient(): boolean {
    return this.status === 0 || this.status === 429 || this.status >= 500;
  }
}

export const unreachable = (cause: unknown) =>
  new ApiError(0, { code: 'unreachable', message: 'The service can’t be reached', request_id: '' }, cause);

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
    const { status, message, requestId, details } = error;
    throw new ApiError(status, { code, message, request_id: requestId, details, ...changes }, error);
  };
