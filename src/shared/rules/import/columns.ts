import { type Fields, isMetadataColumn } from '../import-lines.ts';
import { byField, TEXT_FIELDS } from '../license-fields.ts';
import { flatValues, joined, textOf, toLine, type Values } from './values.ts';

// Maps the columns of a file that no known service has written. The names are guessed, and a person checks the guess.

/** Says in a file of failed rows why a row has failed. */
export const ERROR_COLUMN = 'error';

/** Says there which of equal rows without a license key a row is. It isn't `copy`, because a file may have a column of that name. */
export const COPY_COLUMN = 'latchkey_copy';

/** Whether a file of failed rows has the column beside those of its file. */
export const isAddedColumn = (name: string): boolean => name === ERROR_COLUMN || name === COPY_COLUMN;

/** What a column can become. Null leaves it out. */
export const TARGETS = [
  'license_key',
  'customer_email',
  ...TEXT_FIELDS,
  'product',
  'status',
  'seats',
  'created_at',
  'expires_at',
  'updates_until',
  'metadata',
] as const;
export type Target = (typeof TARGETS)[number];

/** The target of each column, by its name. */
export type ColumnMap = Record<string, Target | null>;

/** Fields that take the texts of several columns, such as a first and a last name. */
export const isShared = (target: Target): boolean => target === 'customer_name' || target === 'metadata';
const isDate = (target: Target | null | undefined) =>
  target === 'created_at' || target === 'expires_at' || target === 'updates_until';

/** The names of columns, without spaces, signs, accents, and case. The first column with a name has the field. */
const NAMES: [Target, RegExp][] = [
  [
    'license_key',
    /^(?:(?:licen[sc]e|product|software|unlock|registration)?(?:key|code|serial|string)|licen[sc]e(?:number|no)?|activation(?:key|code)|serial(?:number|no|key|code)?|lizenz(?:schlussel|key|code|nummer)?|(?:produkt)?schlussel|seriennummer|cle(?:delicence|licence)?|clave(?:delicencia)?)$/,
  ],
  [
    'customer_email',
    /^(?:(?:customer|user|buyer|purchase|purchaser|billing|contact|owner|licensee|client)?e?mail(?:address|adresse|id)?|kundenemail|kundenmail|courriel|correo(?:electronico)?)$/,
  ],
  [
    'customer_name',
    /^(?:(?:customer|user|buyer|purchaser|billing|contact|owner|client|licensee|full|first|last|given|family|customerfirst|customerlast|userfirst|userlast)?name|customer|buyer|purchaser|licensee|owner|licensedto|registeredto|surname|kunde|kundenname|vorname|nachname|name(?:des)?kunden|nom|prenom|nombre|apellido)$/,
  ],
  [
    'customer_company',
    /^(?:(?:customer|user|buyer|billing)?(?:company|organi[sz]ation|business)(?:name)?|firma|firmenname|unternehmen|societe|entreprise|empresa)$/,
  ],
  [
    'product',
    /^(?:(?:product|item|app|application|plan|sku|edition|policy)(?:name|code|title|shortcode)?|produkt(?:name)?|artikel(?:name)?|produit|producto)$/,
  ],
  [
    'status',
    /^(?:(?:licen[sc]e|key)?(?:status|state)|(?:is)?(?:active|enabled|disabled|suspended|revoked))$/,
  ],
  [
    'seats',
    /^(?:(?:max|maximum|allowed|number|numberof|noof)?(?:seats|activations|machines|devices|computers)(?:limit|allowed|max)?|(?:activations?|machines?|devices?|seats?)limit|limitactivations|anzahlgerate|gerate|platze|arbeitsplatze|anzahllizenzen|lizenzen)$/,
  ],
  [
    'created_at',
    /^(?:created?(?:at|on|date|time)?|creationdate|(?:purchased?|order(?:ed)?|sale|sold|issued?|sent|bought|start|licen[sc]e)(?:at|on|date|time)|date(?:sent|created|purchased|issued|ofpurchase)?|issued|purchased|(?:kauf|bestell|erstellungs?|ausstellungs?|verkaufs)datum|(?:erstellt|gekauft|bestellt|verkauft)(?:am)?|datum)$/,
  ],
  [
    'expires_at',
    /^(?:expir(?:es|y|ation)?(?:at|on|date|time)?|licen[sc]eexpir(?:es|y|ation)(?:date)?|valid(?:until|till?|to|through|thru)|validityperiod|(?:subscription)?end(?:s|date|at|son)?|until|ablauf(?:datum|am)?|lauftab(?:am)?|gultigbis|ende|enddatum)$/,
  ],
  [
    'updates_until',
    /^(?:(?:updates?|upgrades?|maintenance|support)(?:until|expir(?:es|y|ation)(?:at|on|date)?|end(?:s|date)?|validuntil|period)|(?:updates|wartung|support)bis)$/,
  ],
  [
    'metadata',
    /^(?:(?:order|invoice|transaction|purchase|sale|receipt|payment)(?:id|number|no|nr|ref|reference)?|(?:bestell|rechnungs?|auftrags?|kunden)(?:nummer|nr)|notes?|comments?|notiz|bemerkung)$/,
  ],
];

const fold = (name: string) =>
  name
    .normalize('NFKD')
    .replace(/ß/g, 'ss')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '');

const lastPart = (name: string) => name.slice(name.lastIndexOf('.') + 1);

/** Names of our own mean what they say, also within a table of another system. */
const ownTarget = (name: string): Target | null =>
  TARGETS.find((target) => target === name && target !== 'metadata') ?? null;

const targetOf = (name: string): Target | null => {
  if (isMetadataColumn(name)) return 'metadata';
  const find = (text: string) => NAMES.find(([, pattern]) => pattern.test(fold(text)))?.[0];
  return ownTarget(name) ?? find(name) ?? (name.includes('.') ? find(lastPart(name)) : undefined) ?? null;
};

const EMAIL = /^\S+@\S+\.\S+$/;
const KEY = /^(?=.*\d)[\w.-]{8,128}$/;

/** Finds a column of which all values have the form. */
const findByValues = (columns: string[], sample: Record<string, string>[], form: RegExp, map: ColumnMap) =>
  columns.find((name) => {
    const values = sample.map((row) => row[name] ?? '').filter((value) => value !== '');
    return map[name] === null && values.length > 0 && values.every((value) => form.test(value));
  });

/** Guesses what the columns are, by their names and then by the first rows. */
export const guessColumns = (columns: string[], sample: Record<string, string>[]): ColumnMap => {
  const taken = new Set<Target>();
  const map: ColumnMap = {};
  for (const name of columns) {
    const target = isAddedColumn(name) ? null : targetOf(name);
    const isFree = target !== null && (isShared(target) || !taken.has(target));
    map[name] = isFree ? target : null;
    if (isFree) taken.add(target);
  }
  for (const [target, form] of [
    ['customer_email', EMAIL],
    ['license_key', KEY],
  ] as const) {
    const found = taken.has(target) ? undefined : findByValues(columns, sample, form, map);
    if (found !== undefined) map[found] = target;
  }
  return map;
};

/** The name of a column's entry in the metadata. */
const entryOf = (name: string) => (isMetadataColumn(name) ? name.slice(name.indexOf('.') + 1) : name);

/** What a file without these columns means for its licenses, which a person should know. */
export const missingColumns = (map: ColumnMap): string[] => {
  const lacks = (target: Target) => !Object.values(map).includes(target);
  return [
    ...(lacks('license_key')
      ? [
          'No column is the license key, so each license gets a new key, and the keys that customers have won’t work.',
        ]
      : []),
    ...(lacks('customer_email')
      ? ['No column is the customer’s email address, so the licenses get your account’s.']
      : []),
  ];
};

/** The columns with dates. */
export const dateColumns = (map: ColumnMap): string[] => Object.keys(map).filter((name) => isDate(map[name]));

/** Returns the line of a row, or why it has none. */
export const lineByColumns = (row: Record<string, string>, map: ColumnMap, values: Values): Fields => {
  const named = (target: Target) => Object.keys(map).filter((name) => map[name] === target);
  const first = (target: Target): [name: string, value: string | undefined] | null => {
    const [name] = named(target);
    return name === undefined ? null : [name, row[name]];
  };
  const read = <T>(target: Target, reader: (name: string, value: unknown) => T): T | undefined => {
    const column = first(target);
    return column ? reader(...column) : undefined;
  };
  const expiresAt = read('expires_at', values.day);
  return toLine({
    license_key: read('license_key', values.key),
    customer_email: textOf(first('customer_email')?.[1]),
    ...byField(TEXT_FIELDS, (field) => textOf(first(field)?.[1])),
    customer_name: joined(...named('customer_name').map((name) => row[name])),
    product: textOf(first('product')?.[1]),
    status: read('status', (name, value) => values.status(name, value, expiresAt)),
    terms: read('seats', values.seats),
    expires_at: expiresAt,
    updates_until: read('updates_until', values.day),
    metadata: flatValues(Object.fromEntries(named('metadata').map((name) => [entryOf(name), row[name]]))),
    created_at: read('created_at', values.time),
  });
};
