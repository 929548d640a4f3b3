import { ApiError } from '../../data/error.ts';

/** Says of a field what the service would say of it, only sooner and plainer. */
export const invalidField = (path: string, message: string) =>
  new ApiError(400, {
    code: 'invalid_request',
    message: 'Invalid Request',
    request_id: '',
    details: [{ path, message }],
  });
