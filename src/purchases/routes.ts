import { Hono } from 'hono';
import { endpoint } from '../auth/endpoint.ts';
import { once } from '../gate/worker/commit.ts';
import { type AppEnv, completed, userCtx } from '../http/context.ts';
import { hintWork } from '../stores/work-hint.ts';
import { mailPreviewBody, mailTestBody, previewProductMail, testProductMail } from './mail-preview.ts';
import { getProductMail, patchProductMail, patchProductMailInput, productMailBody } from './product-mail.ts';
import { assignProduct, getPurchase, listPurchases, resendMail, retryPurchase } from './purchases.ts';
import { assignInput, listPurchasesQuery, purchaseDetailsBody, purchaseListBody } from './schemas.ts';

export const purchaseRoutes = new Hono<AppEnv>()
  .get(
    '/',
    endpoint({
      id: 'listPurchases',
      tag: 'Stores',
      summary: 'List purchases',
      access: 'account',
      query: listPurchasesQuery,
      answers: [{ status: 200, description: 'A page of purchases, newest first.', schema: purchaseListBody }],
    }),
    async (c) => c.json(await listPurchases(c.var.ctx, c.req.valid('query')), 200),
  )
  .get(
    '/:id',
    endpoint({
      id: 'getPurchase',
      tag: 'Stores',
      summary: 'Get a purchase with its facts, licenses, and emails',
      access: 'account',
      answers: [{ status: 200, description: 'The purchase.', schema: purchaseDetailsBody }],
      errors: ['not_found'],
    }),
    async (c) => c.json(await getPurchase(c.var.ctx, c.req.param('id')), 200),
  )
  .post(
    '/:id/retry',
    endpoint({
      id: 'retryPurchase',
      tag: 'Stores',
      summary: 'Try a purchase again',
      description: 'Works out the purchase’s licenses again. A repeat creates nothing twice.',
      access: 'account',
      isRepeatable: true,
      answers: [{ status: 200, description: 'The purchase.', schema: purchaseDetailsBody }],
      errors: ['not_found'],
    }),
    async (c) => c.json(await retryPurchase(c.var.ctx, c.req.param('id')), 200),
  )
  .post(
    '/:id/assign',
    endpoint({
      id: 'assignPurchase',
      tag: 'Stores',
      summary: 'Name the product of a purchase',
      description: 'Creates the licenses of a purchase that has no offer.',
      access: 'account',
      isRepeatable: true,
      body: assignInput,
      answers: [{ status: 200, description: 'The purchase.', schema: purchaseDetailsBody }],
      errors: ['not_found', 'invalid_transition'],
    }),
    async (c) => {
      const { product } = c.req.valid('json');
      return c.json(await assignProduct(c.var.ctx, c.req.param('id'), product), 200);
    },
  )
  .post(
    '/:id/resend-mail',
    endpoint({
      id: 'resendPurchaseMail',
      tag: 'Stores',
      summary: 'Send the email with the keys again',
      description: 'A purchase has at most ten emails.',
      access: 'account',
      isRepeatable: true,
      answers: [{ status: 202, description: 'The email is due.', schema: purchaseDetailsBody }],
      errors: ['not_found', 'invalid_transition', 'limit_reached'],
    }),
    async (c) => {
      const { ctx } = c.var;
      const id = c.req.param('id');
      const purchase = await once(
        ctx,
        () => resendMail(ctx, id),
        (resent) => getPurchase(ctx, resent),
      );
      c.executionCtx.waitUntil(hintWork(ctx.env, ctx.accountId));
      return c.json(purchase, 202);
    },
  );

/** What the emails to the buyers of a product say. */
export const productMailRoutes = new Hono<AppEnv>()
  .get(
    '/:code/mail',
    endpoint({
      id: 'getProductMail',
      tag: 'Products',
      summary: 'Get the email to a product’s buyers',
      access: 'account',
      answers: [{ status: 200, description: 'What the email says.', schema: productMailBody }],
      errors: ['product_not_found'],
    }),
    async (c) => c.json(await getProductMail(c.var.ctx, c.req.param('code')), 200),
  )
  .patch(
    '/:code/mail',
    endpoint({
      id: 'patchProductMail',
      tag: 'Products',
      summary: 'Change the email to a product’s buyers',
      description:
        'The email has the keys, and how to activate in your words. A field that is null has its default.',
      access: 'account',
      isRepeatable: true,
      body: patchProductMailInput,
      answers: [{ status: 200, description: 'What the email says.', schema: productMailBody }],
      errors: ['product_not_found'],
    }),
    async (c) => {
      const { ctx } = c.var;
      const code = c.req.param('code');
      const patch = () => patchProductMail(ctx, code, c.req.valid('json'));
      return c.json(await once(ctx, patch, (id) => getProductMail(ctx, id)), 200);
    },
  )
  .post(
    '/:code/mail/preview',
    endpoint({
      id: 'previewProductMail',
      tag: 'Products',
      summary: 'Preview the email to a product’s buyers',
      description:
        'Returns the email as a buyer would get it, with an example key. A field that is sent replaces the saved one, and nothing is saved.',
      access: 'account',
      body: patchProductMailInput,
      answers: [{ status: 200, description: 'The email.', schema: mailPreviewBody }],
      errors: ['product_not_found'],
    }),
    async (c) => c.json(await previewProductMail(c.var.ctx, c.req.param('code'), c.req.valid('json')), 200),
  )
  .post(
    '/:code/mail/test',
    endpoint({
      id: 'testProductMail',
      tag: 'Products',
      summary: 'Send the email to a product’s buyers to yourself',
      description:
        'Sends the preview to the account’s own address, which has to be verified: 409 `invalid_transition` otherwise. An account sends 5 an hour, and an address gets 5 an hour and 15 a day of all emails: 429 beyond that.',
      access: 'account',
      body: patchProductMailInput,
      answers: [{ status: 200, description: 'The address that it was sent to.', schema: mailTestBody }],
      errors: ['product_not_found', 'invalid_transition'],
    }),
    async (c) => {
      const test = testProductMail(userCtx(c), c.req.param('code'), c.req.valid('json'));
      return c.json(await completed(c, test), 200);
    },
  );
