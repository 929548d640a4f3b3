import type { Area } from '../area.ts';

export const API_KEYS: Area = {
  setUp: async ({ asSession }) => {
    const { body } = await asSession('POST', '/api/create-api-key');
    return { key: body.id };
  },
  calls: {
    'GET /api/api-keys?limit=1': [{ when: 'more pages follow', answers: '200 ok' }],
    'POST /api/create-api-key': [
      { when: 'there is no body', answers: '201 ok' },
      {
        when: 'every field is set',
        body: { name: 'CI', scope: 'verify', expires_at: '2999-01-01T00:00:00+02:00' },
        answers: '201 ok',
      },
      {
        when: 'expires_at is in the year 10000 in UTC',
        body: { expires_at: '9999-12-31T23:59:59-01:00' },
        answers: '400 invalid_request',
      },
    ],
    'GET /api/api-keys/{key}': [{ when: 'the API key exists', answers: '200 ok' }],
    'GET /api/api-keys/key_none': [{ when: 'the API key does not exist', answers: '404 api_key_not_found' }],
    'POST /api/api-keys/{key}/rotate': [
      { when: 'the API key works', body: { overlap_hours: 0 }, answers: '201 ok' },
      { when: 'the API key has expired', answers: '409 invalid_transition' },
    ],
    'DELETE /api/api-keys/{key}': [
      { when: 'the API key exists', answers: '200 ok' },
      { when: 'the API key was deleted', answers: '404 api_key_not_found' },
    ],
  },
};
