import { Hono } from 'hono';
import { accountRoutes } from './accounts/routes.ts';
import { activationRoutes, applicationRoutes } from './activations/routes.ts';
import { apiKeyRoutes } from './api-keys/routes.ts';
import { auditRoutes } from './audit/routes.ts';
import { backupRoutes } from './backups/routes.ts';
import { billingRoutes, checkoutRoutes } from './billing/routes.ts';
import { credentialRoutes } from './credentials/routes.ts';
import { customerRoutes } from './customers/routes.ts';
import { dashboardRoutes } from './dashboard/routes.ts';
import { erasureRoutes } from './erasure/routes.ts';
import { hookRoutes } from './hooks/routes.ts';
import { baseMiddleware } from './http/base-middleware.ts';
import type { AppEnv } from './http/context.ts';
import { onError } from './http/errors.ts';
import { createNotFoundHandler } from './http/not-found.ts';
import { createCachingRouter, tidyPath } from './http/router.ts';
import { licenseRoutes } from './licenses/routes.ts';
import { operatorRoutes } from './operators/routes.ts';
import { portalLinkRoutes, portalRoutes, portalSettingsRoutes } from './portal/routes.ts';
import { productRoutes } from './products/routes.ts';
import { productMailRoutes, purchaseRoutes } from './purchases/routes.ts';
import { regionRoutes } from './regions/routes.ts';
import { selfServiceRoutes } from './self-service/routes.ts';
import { sessionRoutes } from './sessions/routes.ts';
import { signInRoutes } from './sign-in/routes.ts';
import { storeRoutes } from './stores/routes.ts';
import { dashboardPage, documentationRoutes, portalPageRoutes, systemRoutes } from './system/routes.ts';
import { tokenRoutes } from './tokens/routes.ts';
import { exportRoutes, importRoutes } from './transfer/routes.ts';
import { twoFactorRoutes } from './two-factor/routes.ts';
import { eventRoutes, webhookRoutes } from './webhooks/routes.ts';

const routes = new Hono<AppEnv>({ router: createCachingRouter(), getPath: tidyPath })
  .use(baseMiddleware)
  .route('/', systemRoutes)
  .route('/', documentationRoutes)
  .route('/', portalPageRoutes)
  .route('/', checkoutRoutes)
  .route('/', hookRoutes)
  .route('/api', signInRoutes)
  .route('/api', accountRoutes)
  .route('/api', auditRoutes)
  .route('/api', credentialRoutes)
  .route('/api', erasureRoutes)
  .route('/api/sessions', sessionRoutes)
  .route('/api', twoFactorRoutes)
  .route('/api', regionRoutes)
  .route('/api', apiKeyRoutes)
  .route('/api', dashboardRoutes)
  .route('/api', billingRoutes)
  .route('/api', portalSettingsRoutes)
  .route('/api/webhooks', webhookRoutes)
  .route('/api/events', eventRoutes)
  .route('/api/stores', storeRoutes)
  .route('/api/purchases', purchaseRoutes)
  .route('/api', exportRoutes)
  .route('/api/v1/licenses', applicationRoutes)
  .route('/api/v1/licenses', importRoutes)
  .route('/api/v1/licenses', licenseRoutes)
  .route('/api/v1/licenses', activationRoutes)
  .route('/api/v1/customers', customerRoutes)
  .route('/api/v1/products', productRoutes)
  .route('/api/v1/products', productMailRoutes)
  .route('/api/v1/jwks', tokenRoutes)
  .route('/api/v1', portalLinkRoutes)
  .route('/portal-api/:slug', portalRoutes)
  .route('/portal-api/:slug', selfServiceRoutes)
  .route('/operator/backups', backupRoutes)
  .get('/operator', (c, next) => dashboardPage(c) ?? next())
  .route('/operator', operatorRoutes);

export const app = routes.onError(onError);
const notFound = createNotFoundHandler(app);
app.notFound((c) => dashboardPage(c) ?? notFound(c));

/** The type from which `hono/client` infers every route's input and response. */
export type App = typeof routes;
