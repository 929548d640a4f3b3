import { Hono } from 'hono';
import * as z from 'zod';
import { endpoint } from '../auth/endpoint.ts';
import type { AppEnv } from '../http/context.ts';
import { withEtag } from '../http/etag.ts';
import { invalidField } from '../shared/app-error.ts';
import { pageAfter } from '../shared/schemas/lists.ts';
import { deleteProduct, findProduct, listProducts, putProduct } from './products.ts';
import {
  deletedProductBody,
  productBody,
  productCode,
  productListBody,
  putProductInput,
  toProduct,
} from './schemas.ts';

export const productRoutes = new Hono<AppEnv>()
  .get(
    '/',
    endpoint({
      id: 'listProducts',
      tag: 'Products',
      summary: 'List products',
      description: 'Lists products by their code.',
      access: 'account',
      query: z.object(pageAfter(/^[A-Za-z0-9._-]{1,64}$/)),
      answers: [{ status: 200, description: 'A page of products.', schema: productListBody }],
    }),
    async (c) => c.json(await listProducts(c.var.ctx, c.req.valid('query')), 200),
  )
  .put(
    '/:code',
    endpoint({
      id: 'putProduct',
      tag: 'Products',
      summary: 'Create or replace a product',
      description:
        'Replaces the whole product: a field that the body doesn’t have becomes empty. Licenses that name the product have its terms from the response on. An account has at most 1,000 products.',
      access: 'account',
      hasEtag: true,
      takesIfMatch: true,
      body: putProductInput,
      answers: [
        { status: 200, description: 'The replaced product.', schema: productBody },
        { status: 201, description: 'The new product.', schema: productBody },
      ],
      errors: ['limit_reached'],
    }),
    async (c) => {
      const code = productCode.safeParse({ code: c.req.param('code') });
      if (!code.success) throw invalidField('code', 'must be 1 to 64 of A-Z, a-z, 0-9, -, _ and .');
      const { product, isNew } = await putProduct(c.var.ctx, code.data.code, c.req.valid('json'));
      return c.json(withEtag(c, toProduct(product)), isNew ? 201 : 200);
    },
  )
  .get(
    '/:code',
    endpoint({
      id: 'getProduct',
      tag: 'Products',
      summary: 'Get a product',
      access: 'account',
      hasEtag: true,
      answers: [{ status: 200, description: 'The product.', schema: productBody }],
      errors: ['product_not_found'],
    }),
    async (c) => c.json(withEtag(c, toProduct(await findProduct(c.var.ctx, c.req.param('code')))), 200),
  )
  .delete(
    '/:code',
    endpoint({
      id: 'deleteProduct',
      tag: 'Products',
      summary: 'Delete a product',
      description: 'Fails while a license names the product.',
      access: 'account',
      takesIfMatch: true,
      answers: [{ status: 200, description: 'The product is deleted.', schema: deletedProductBody }],
      errors: ['product_not_found', 'product_in_use'],
    }),
    async (c) => {
      const code = c.req.param('code');
      await deleteProduct(c.var.ctx, code);
      return c.json({ code, deleted: true as const }, 200);
    },
  );
