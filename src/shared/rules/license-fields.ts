// The fields of a license by their names in the API, in the order of its responses. Each place that has fields reads this
// list: columns, inputs, responses, history, search, import, export, forms, and erasure.

interface FieldRules {
  column: string;
  /** Whether `q` searches it. The view `license_words` and the trigger `license_trigrams_update` name the same columns. */
  isSearched?: true;
}

/** A text or null, with no rule but its length. */
interface TextRules extends FieldRules {
  kind: 'text';
  maxLength: number;
  /** An example, which forms show. */
  example: string;
  /** Whether it is about a person, and is removed when its customer is erased, also from the history and from metadata. */
  isPersonal: boolean;
}

/** `fixed` fields never change. `special` ones have rules of their own. */
interface OtherRules extends FieldRules {
  kind: 'day' | 'json' | 'fixed' | 'special';
}

type LicenseFieldRules = TextRules | OtherRules;

export const LICENSE_FIELDS = {
  id: { column: 'id', kind: 'fixed' },
  license_key: { column: 'licenseKey', kind: 'special', isSearched: true },
  status: { column: 'status', kind: 'special' },
  product: { column: 'product', kind: 'special', isSearched: true },
  customer_email: { column: 'customerEmail', kind: 'special', isSearched: true },
  customer_name: {
    column: 'customerName',
    kind: 'text',
    maxLength: 200,
    example: 'Grace Hopper',
    isSearched: true,
    isPersonal: true,
  },
  customer_company: {
    column: 'customerCompany',
    kind: 'text',
    maxLength: 100,
    example: 'Eckert–Mauchly',
    isSearched: true,
    isPersonal: true,
  },
  expires_at: { column: 'expiresAt', kind: 'day' },
  metadata: { column: 'metadata', kind: 'json' },
  terms: { column: 'terms', kind: 'json' },
  updates_until: { column: 'updatesUntil', kind: 'day' },
  created_at: { column: 'createdAt', kind: 'fixed' },
  updated_at: { column: 'updatedAt', kind: 'fixed' },
} as const satisfies Record<string, LicenseFieldRules>;

type Fields = typeof LICENSE_FIELDS;
export type LicenseField = keyof Fields;
export type ColumnOf<Field extends LicenseField> = Fields[Field]['column'];

type FieldWith<Rules> = {
  [Field in LicenseField]: Fields[Field] extends Rules ? Field : never;
}[LicenseField];
const FIELDS = Object.keys(LICENSE_FIELDS) as LicenseField[];

/** Returns the fields to which all of these rules apply. */
const fieldsWith = <const Rules extends Partial<LicenseFieldRules>>(rules: Rules) =>
  FIELDS.filter((field) => {
    const own: Record<string, unknown> = LICENSE_FIELDS[field];
    return Object.entries(rules).every(([name, value]) => own[name] === value);
  }) as FieldWith<Rules>[];

export const TEXT_FIELDS = fieldsWith({ kind: 'text' });
export const DAY_FIELDS = fieldsWith({ kind: 'day' });
export const JSON_FIELDS = fieldsWith({ kind: 'json' });
export const SEARCHED_FIELDS = fieldsWith({ isSearched: true });
export const PERSONAL_FIELDS = fieldsWith({ isPersonal: true });

export type ChangeableField = Exclude<LicenseField, FieldWith<{ kind: 'fixed' }>>;
export const CHANGEABLE_FIELDS = FIELDS.filter(
  (field): field is ChangeableField => LICENSE_FIELDS[field].kind !== 'fixed',
);

export const columnOf = <Field extends LicenseField>(field: Field): ColumnOf<Field> =>
  LICENSE_FIELDS[field].column;
export const LICENSE_COLUMNS = FIELDS.map(columnOf);

/** Returns an object with a value for each field. */
export const byField = <Field extends LicenseField, Value>(
  fields: readonly Field[],
  valueOf: (field: Field) => Value,
) => Object.fromEntries(fields.map((field) => [field, valueOf(field)])) as Record<Field, Value>;

/** Returns an object with a value for the column of each field. */
export const byColumn = <Field extends LicenseField, Value>(
  fields: readonly Field[],
  valueOf: (field: Field) => Value,
) =>
  Object.fromEntries(fields.map((field) => [columnOf(field), valueOf(field)])) as Record<
    ColumnOf<Field>,
    Value
  >;

/** Turns `customer_name` into “Customer name”. */
export const labelOf = (field: string): string =>
  `${field.charAt(0).toUpperCase()}${field.slice(1).replaceAll('_', ' ')}`;

/** What a customer is known by, in words: “email address, name, or company”. */
export const customerWords = (type: 'conjunction' | 'disjunction'): string => {
  const own = PERSONAL_FIELDS.map((field) => field.replace('customer_', '').replaceAll('_', ' '));
  return new Intl.ListFormat('en-US', { type }).format(['email address', ...own]);
};
