// A seller's portal, and a customer of theirs.
import type { Page } from 'playwright-core';
import { createAccount } from './customer.ts';
import { service } from './dashboard.ts';
import { verifyAddress } from './mails.ts';

export const PORTAL_NAME = 'Orrery Software';

interface Body {
  id: string;
  license_key: string;
  status: string;
  url: string;
  activation: { id: string };
}
export const bodyOf = ({ body }: { body: unknown }) => body as Body;

/** A seller with a portal, and a customer whose license is on two machines. */
export const openPortal = async (settings: object = {}) => {
  const ada = await createAccount(service, 'portal');
  await verifyAddress(service, ada);
  const key = { 'x-api-key': (await ada.addKey()).api_key };
  const slug = `orrery-${crypto.randomUUID().slice(0, 8)}`;
  const email = `customer-of-${slug}@example.com`;
  await service.put(
    '/api/portal',
    {
      enabled: true,
      slug,
      name: PORTAL_NAME,
      accent_color: '#0f766e',
      support_url: 'https://example.com/help',
      allow: { rotate_key: true },
      ...settings,
    },
    key,
  );
  const terms = { max_activations: 3, offline_days: 30 };
  await service.put('/api/v1/products/pro', { name: 'Orrery Pro', terms }, key);
  const license = bodyOf(
    await service.post(
      '/api/v1/licenses/create',
      { product: 'pro', customer_email: email, duration_days: 365 },
      key,
    ),
  );
  for (const [fingerprint, name] of [
    ['machine-one-0001', 'Grace’s laptop'],
    ['machine-two-0002', 'Studio'],
  ])
    await service.post(
      '/api/v1/licenses/activate',
      { license_key: license.license_key, fingerprint, name, platform: 'macos', app_version: '2.4.0' },
      key,
    );
  return { key, slug, email, license, path: `/portal/${slug}` };
};

/** Signs the customer in by an application's link. */
export const openLinkOf = async (
  page: Page,
  { key, license }: Pick<Awaited<ReturnType<typeof openPortal>>, 'key' | 'license'>,
  input: object = {},
) => {
  const session = await service.post('/api/v1/portal-sessions', { license_id: license.id, ...input }, key);
  await page.goto(bodyOf(session).url.replace(/^https?:\/\/[^/]+/, service.origin));
  await page.getByRole('button', { name: 'Sign in' }).click();
};
