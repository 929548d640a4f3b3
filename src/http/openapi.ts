import type { Context } from 'hono';
import type * as z from 'zod';
import type { ErrorCode } from '../shared/app-error.ts';
import type { AppEnv } from './context.ts';
import type { Inputs } from './input.ts';

// Routes carry their documentation. `scripts/openapi.ts` builds the OpenAPI document from it at build time, so the
// Worker serves a static file.

export type Access =
  | 'public'
  /** An API key of any scope. */
  | 'key'
  /** An API key of scope `full`, or a session. */
  | 'account';

interface Answer {
  status: 200 | 201 | 202 | 503;
  description: string;
  /** For a stream, the schema of each line. */
  schema: z.ZodType;
  contentType?: string;
}

export interface EndpointDocs extends Inputs {
  id: string;
  tag:
    | 'Licenses'
    | 'Applications'
    | 'Products'
    | 'Portal'
    | 'Account'
    | 'API keys'
    | 'Webhooks'
    | 'Stores'
    | 'Billing'
    | 'Dashboard'
    | 'System';
  summary: string;
  description?: string;
  access: Access;
  /** The answer has an ETag. */
  hasEtag?: true;
  /** A change of something with an ETag, which If-Match makes conditional. */
  takesIfMatch?: true;
  /**
   * Whether a session must have proved in the last ten minutes who holds it, because the call changes how one gets in, or
   * what gets out. The function decides by the request.
   */
  wantsProof?: true | ((c: Context<AppEnv>) => boolean | Promise<boolean>);
  /** Web pages of any origin can make the call. */
  anyOrigin?: true;
  /** Sessions may make the call even if they are over their rate limit, and if their account is suspended. */
  hasUnlimitedSessions?: true;
  /** The sessions of a suspended account may make the call, though it isn't a GET. */
  isForSuspended?: true;
  /** Responses name the region that answered. */
  namesRegion?: true;
  answers: Answer[];
  /** Errors in addition to those that `access` and the input imply. */
  errors?: ErrorCode[];
  /** A body that isn't JSON, which the route reads itself. */
  file?: { schema: z.ZodType; contentTypes: string[] };
}

const DOCUMENTATION = Symbol('documentation');

/** Attaches documentation to a middleware. */
export const documented = <M extends object>(middleware: M, docs: EndpointDocs): M =>
  Object.assign(middleware, { [DOCUMENTATION]: docs });

export const documentationOf = (middleware: object): EndpointDocs | undefined =>
  (middleware as { [DOCUMENTATION]?: EndpointDocs })[DOCUMENTATION];
