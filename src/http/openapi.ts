import type * as z from 'zod';
import type { ErrorCode } from '../shared/app-error.ts';

// Routes carry what the OpenAPI document says of them; `scripts/openapi.ts` collects it at build time, so
// that serving the document costs the Worker nothing.

export type Access =
  | 'public'
  /** An API key alone. */
  | 'key'
  /** An API key or a session. */
  | 'account';

export interface Answer {
  status: 200 | 201 | 503;
  description: string;
  schema: z.ZodType;
}

export interface Operation {
  id: string;
  tag: 'Licenses' | 'Account' | 'API keys' | 'Webhooks' | 'Billing' | 'Dashboard' | 'System';
  summary: string;
  description?: string;
  access: Access;
  answers: Answer[];
  /** Those that are particular to it; what its access and input imply is added. */
  errors?: ErrorCode[];
}

export interface Documentation {
  operation?: Operation;
  input?: { in: 'body' | 'query' | 'header'; schema: z.ZodType };
}

export const DOCUMENTATION = Symbol('documentation');

export const documented = <M extends object>(middleware: M, documentation: Documentation): M =>
  Object.assign(middleware, { [DOCUMENTATION]: documentation });
