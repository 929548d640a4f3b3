import type { Area, Call } from '../area.ts';

const READ: Call[] = [
  { when: 'called with a session', answers: '200 ok' },
  { as: 'key', when: 'called with an API key', answers: '200 ok' },
];

/** What the account and the service answer about themselves. */
export const REPORTS: Area = {
  calls: {
    'GET /health': [{ as: 'anonymous', when: 'the service is healthy', answers: '200 ok' }],
    'GET /api/account': READ,
    'GET /api/audit-log': READ,
    'GET /api/regions': READ,
    'GET /api/dashboard': READ,
    'GET /api/developer-progress': READ,
    'GET /api/onboarding': READ,
    'GET /api/export': READ,
    'GET /api/api-keys': READ,
  },
};
