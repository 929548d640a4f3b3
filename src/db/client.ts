import { drizzle } from 'drizzle-orm/d1';
import * as billing from './billing-schema.ts';
import * as schema from './schema.ts';

export const database = (env: Env) => drizzle(env.DB, { schema: { ...schema, ...billing } });

export type Database = ReturnType<typeof database>;
