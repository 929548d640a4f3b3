import { expect } from 'vitest';
import { ERRORS } from '../../src/http/errors.ts';
import type { ErrorCode } from '../../src/shared/app-error.ts';
import type { Answer } from '../support/client.ts';

/** The codes that `expectError` has checked in this test file. */
export const seenCodes = new Set<ErrorCode>();

/** Expects the common error shape. Without `message`, expects the code's own message. */
export const expectError = (answer: Answer, status: number, code: ErrorCode, message?: string) => {
  seenCodes.add(code);
  const { details, ...error } = answer.body.error;
  expect({ status: answer.status, ...error }).toEqual({
    status,
    code,
    message: message ?? ERRORS[code].message,
    request_id: answer.headers.get('x-request-id'),
  });
  expect(Object.keys(answer.body)).toEqual(['error']);
  expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
  const detail = { path: expect.any(String), message: expect.any(String) };
  if (code === 'invalid_request') expect(details).toEqual(expect.arrayContaining([detail]));
  else expect(details).toBeUndefined();
};
