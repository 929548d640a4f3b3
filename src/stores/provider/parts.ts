import * as z from 'zod';
import type { Buyer, StoreFact, Thing } from '../../purchases/rules/facts.ts';
import { email } from '../../shared/schemas/fields.ts';
import type { StoreReading } from './provider.ts';

// What the bodies of several providers are made of.

/** Returns the value of a JSON text, or undefined for any other text. */
export const readJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** An id of the store, which may be a number. */
export const id = z.union([z.string().min(1).max(200), z.int()]).transform(String);

/** An id that may be missing, empty, or zero. */
export const optionalId = z
  .union([z.string().max(200), z.int()])
  .nullish()
  .transform((value) => (value ? String(value) : undefined));

const toMs = (text: string, issues: z.RefinementCtx): number => {
  // A time without a zone is UTC, as it is for every provider that omits it.
  const ms = Date.parse(/T.*(Z|[+-]\d\d:?\d\d)$/.test(text) ? text : `${text}Z`);
  if (Number.isNaN(ms)) issues.addIssue('is no time');
  return ms;
};

export const time = z.string().max(40).transform(toMs);

/** A time that may be missing or empty. */
export const optionalTime = z
  .string()
  .max(40)
  .nullish()
  .transform((text, issues) => (text ? toMs(text, issues) : undefined));

/** An address that nobody can write to is as good as none. */
export const optionalEmail = z
  .unknown()
  .optional()
  .transform((value) => email.safeParse(value).data);

export const optionalName = z
  .string()
  .nullish()
  .transform((value) => value?.toWellFormed().trim().slice(0, 200) || undefined);

/** Leaves out what a body doesn't say. */
export const said = <Value extends object>(value: Value) =>
  Object.fromEntries(Object.entries(value).filter(([, part]) => part !== undefined && part !== null)) as {
    [Name in keyof Value]?: NonNullable<Value[Name]>;
  };

/** Spares a cast where a thing is part of a larger value. */
const toThing = (kind: string, ref: string): Thing => `${kind}/${ref}`;

export const buyerOf = (
  address: string | undefined,
  name: string | undefined,
  ref: string | undefined,
): { buyer?: Buyer } => {
  const buyer: Buyer = said({
    email: address,
    name,
    ref: ref === undefined ? undefined : toThing('customer', ref),
  });
  return Object.keys(buyer).length > 0 ? { buyer } : {};
};

/** What an object of the store says, and what it doesn't say and the API has to be asked. */
export interface StoreTold {
  facts: StoreFact[];
  asks?: string[];
  /** As in a reading. */
  reachesBack?: true;
}

const problemOf = ({ issues: [issue] }: z.ZodError): string =>
  `${issue?.path.join('.') || 'The body'} ${issue?.message}.`;

/** Returns the reading of a body of a type, from a function that throws for one that isn't as documented. */
export const readingOf = (type: string, tell: () => StoreTold): StoreReading => {
  try {
    const { facts, asks = [], reachesBack } = tell();
    if (facts.length + asks.length === 0) return { kind: 'nothing', type };
    return { kind: 'facts', type, facts, ...(asks.length > 0 && { asks }), ...said({ reachesBack }) };
  } catch (error) {
    if (!(error instanceof z.ZodError)) throw error;
    return { kind: 'unreadable', problem: problemOf(error) };
  }
};

/** Returns what several objects of a list say. One that isn't as documented hides no other. */
export const tellAll = (tells: (() => StoreTold)[]): { facts: StoreFact[]; asks: string[] } => {
  const told = tells.map((tell) => readingOf('', tell)).filter((reading) => reading.kind === 'facts');
  return {
    facts: told.flatMap(({ facts }) => facts),
    asks: [...new Set(told.flatMap(({ asks = [] }) => asks))],
  };
};

/** Returns the id in one of a module's own asks. */
export const askedId = (ask: string): string => encodeURIComponent(ask.slice(ask.indexOf('/') + 1));

/** Returns the things of a purchase of one kind, by their ids. */
export const idsOf = (things: Thing[], kind: string): string[] =>
  things.filter((thing) => thing.startsWith(`${kind}/`)).map((thing) => thing.slice(kind.length + 1));
