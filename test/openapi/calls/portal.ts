import { openPortal } from '../../support/portal.ts';
import type { Area } from '../area.ts';

const SETTINGS = {
  enabled: true,
  name: 'Orrery',
  accent_color: '#2563eb',
  support_url: 'https://example.com/help',
  allow: { release_seat: true, offline_file: false, rotate_key: true, change_email: false },
  products: { orrery: { rotate_key: false } },
};

/** For an account with a portal, and a license of a customer. What customers call isn't in the document. */
export const PORTAL: Area = {
  setUp: async (ada) => {
    const slug = await openPortal(ada);
    const license = await ada.createLicense({ customer_email: 'grace@example.com' });
    return { slug, license: license.id };
  },
  calls: {
    'GET /api/portal': [
      { when: 'the portal is on', answers: '200 ok' },
      { as: 'key', when: 'called with an API key', answers: '200 ok' },
    ],
    'PUT /api/portal': [
      { when: 'every field is set', body: { ...SETTINGS, slug: '{slug}-2' }, answers: '200 ok' },
      { when: 'nothing is sent', body: {}, answers: '200 ok' },
      { when: 'the slug is reserved', body: { slug: 'latchkey' }, answers: '400 invalid_request' },
    ],
    'POST /api/v1/portal-sessions': [
      { as: 'key', when: 'the license exists', body: { license_id: '{license}' }, answers: '200 ok' },
      {
        as: 'key',
        when: 'the customer has a license',
        body: { customer_email: 'grace@example.com', return_url: 'https://example.com/app' },
        answers: '200 ok',
      },
      {
        when: 'the license does not exist',
        body: { license_id: 'lic_none' },
        answers: '404 license_not_found',
      },
      {
        when: 'nobody has the address',
        body: { customer_email: 'eve@example.com' },
        answers: '404 not_found',
      },
    ],
  },
};

export const NO_PORTAL: Area = {
  calls: {
    'GET /api/portal': [{ when: 'no setting was ever made', answers: '200 ok' }],
    'POST /api/v1/portal-sessions': [
      { when: 'the portal is off', body: { license_id: 'lic_none' }, answers: '403 portal_disabled' },
    ],
  },
};
