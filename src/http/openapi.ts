import type * as z from 'zod';
import type { ErrorCode } from '../shared/app-error.ts';

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

export interface EndpointDocs {
  id: string;
  tag:
    | 'Licenses'
    | 'Applications'
    | 'Products'
    | 'Account'
    | 'API keys'
    | 'Webhooks'
    | 'Billing'
    | 'Dashboard'
    | 'System';
  summary: string;
  description?: string;
  access: Access;
  /** Sessions may make the call even if they are over their rate limit. */
  hasUnlimitedSessions?: true;
  /** Responses name the region that answered. */
  namesRegion?: true;
  answers: Answer[];
  /** Errors in addition to those that `access` and the input imply. */
  errors?: ErrorCode[];
}

export interface Documentation {
  operation?: EndpointDocs;
  /** `contentTypes` are those of a body that isn't JSON. */
  input?:
    | { in: 'body'; schema: z.ZodType; contentTypes?: string[] }
    | { in: 'query' | 'header'; schema: z.ZodObject };
}

const DOCUMENTATION = Symbol('documentation');

/** Attaches documentation to a middleware. */
export const documented = <M extends object>(middleware: M, documentation: Documentation): M =>
  Object.assign(middleware, { [DOCUMENTATION]: documentation });

export const documentationOf = (middleware: object): Documentation | undefined =>
  (middleware as { [DOCUMENTATION]?: Documentation })[DOCUMENTATION];
