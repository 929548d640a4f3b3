export interface ErrorBody {
  code: string;
  message: string;
  request_id: string;
  details?: { path: string; message: string }[];
}

/** What the service said instead of a good answer; `status` 0 if it said nothing. */
export class ApiError extends Error {
  readonly code: string;
  readonly requestId: string;
  readonly details: { path: string; message: string }[];
  readonly status: number;

  constructor(status: number, { code, message, request_id, details = [] }: ErrorBody, cause?: unknown) {
    super(message, { cause });
    this.name = 'ApiError';
    this.status = status;
    this.code = code;
    this.requestId = request_id;
    this.details = details;
  }

  /** Whether the same request may do better the next time. */
  get isPassing(): boolean {
    return this.status === 0 || this.status === 429 || this.status >= 500;
  }
}

/** When there was no answer at all. */
export const unreachable = (cause: unknown) =>
  new ApiError(0, { code: 'unreachable', message: 'The service can’t be reached', request_id: '' }, cause);

export const errorWords = (error: unknown): string =>
  error instanceof Error ? error.message : 'Something went wrong';
