// The API reference as pages of Markdown, from the OpenAPI document and the examples.
import type { Access, EndpointDocs } from '../../src/http/openapi.ts';
import type { Json } from '../openapi-schemas.ts';
import { type Example, examplesOf } from './examples.ts';
import { type Row, rowsOf } from './schema.ts';
import { clientCallOf, curlOf } from './snippets.ts';

interface Media {
  schema: Json;
  examples?: Record<string, { value: { error: { message: string } } }>;
}

interface Operation {
  operationId: string;
  tags: string[];
  summary: string;
  description?: string;
  parameters: { name: string; in: string; required: boolean; description?: string; schema: Json }[];
  requestBody?: { content: Record<string, Media> };
  responses: Record<string, { description: string; content: Record<string, Media> }>;
}

export interface ReferenceDocument {
  info: { description: string };
  paths: Record<string, Record<string, unknown>>;
  components: { schemas: Record<string, unknown> };
}

/** What the document doesn't say: the route, and who may call. */
type Route = { path: string; operation: Pick<EndpointDocs, 'id' | 'access'> };

interface Described {
  method: string;
  path: string;
  operation: Operation;
  route: Route;
}

export interface ReferencePage {
  slug: string;
  title: string;
  markdown: string;
}

const ORDER = [
  'Applications',
  'Licenses',
  'Products',
  'Webhooks',
  'API keys',
  'Portal',
  'Account',
  'Billing',
  'Dashboard',
  'System',
] as const satisfies EndpointDocs['tag'][];

const ABOUT: Record<(typeof ORDER)[number], string> = {
  Applications:
    'The four calls that an application makes from a customer’s machine, and what a seller sees of its machines. [Licensing an application](/docs/applications) explains seats, tokens, and every code.',
  Licenses: 'What a seller, a shop, or a support tool does with licenses.',
  Products: 'What is sold, and what its licenses allow.',
  Webhooks: 'Where events are sent. [Webhooks](/docs/webhooks) has the events and how to check a signature.',
  'API keys': 'The keys by which applications and servers call.',
  Portal:
    'The page where your customers see and manage their licenses. [What your customer sees](/docs/portal) explains it.',
  Account: 'Signing in, and the account itself.',
  Billing: 'The plan of the account, where the service sells plans. [Billing](/docs/billing) explains it.',
  Dashboard: 'What the dashboard shows.',
  System: 'The service itself.',
};

const ACCESS: Record<Access, string> = {
  public: 'Needs no credential.',
  key: 'Needs an API key of any scope, as `x-api-key`.',
  account: 'Needs an API key of scope `full`, as `x-api-key`, or a session.',
};

const slugOf = (tag: string) => `api/${tag.toLowerCase().replaceAll(' ', '-')}`;
const anchorOf = (summary: string) =>
  summary
    .toLowerCase()
    .replace(/[^\p{L}\p{N} -]/gu, '')
    .replaceAll(' ', '-');

const fence = (language: string, text: string) => `\`\`\`${language}\n${text}\n\`\`\``;
const cell = (text: string) => text.replaceAll('|', '\\|').replace(/\s*\n\s*/g, ' ');

const tableOf = (heads: string[], rows: string[][]): string =>
  [heads, heads.map(() => '---'), ...rows.map((row) => row.map(cell))]
    .map((row) => `| ${row.join(' | ')} |`)
    .join('\n');

const fieldsOf = (rows: Row[], isSent: boolean): string =>
  tableOf(
    ['Field', 'Type', 'Meaning'],
    rows.map(({ name, type, isRequired, description }) => [
      `\`${name}\``,
      isSent && isRequired ? `${type}, required` : type,
      description,
    ]),
  );

const parametersOf = ({ parameters }: Operation, schemas: Record<string, Json>): string[] => {
  const shown = parameters.filter(({ in: where }) => where !== 'path');
  if (shown.length === 0) return [];
  const rows = shown.flatMap(({ name, in: where, description, required, schema }) => {
    const [row] = rowsOf({ type: 'object', properties: { [name]: schema } }, schemas);
    return row
      ? [[`\`${name}\``, where, `${row.type}${required ? ', required' : ''}`, description ?? row.description]]
      : [];
  });
  return ['**Parameters**', tableOf(['Name', 'In', 'Type', 'Meaning'], rows)];
};

const bodyOf = ({ requestBody }: Operation, schemas: Record<string, Json>): string[] => {
  const [media] = Object.values(requestBody?.content ?? {});
  const rows = media ? rowsOf(media.schema, schemas) : [];
  return rows.length === 0 ? [] : ['**Body**', fieldsOf(rows, true)];
};

const answerText = (body: unknown): string =>
  Array.isArray(body) ? body.map((line) => JSON.stringify(line)).join('\n') : JSON.stringify(body, null, 2);

/** The client package makes the same call for all examples of an operation. */
const exampleOf = (described: Described, example: Example, isFirst: boolean): string[] => {
  const { method, path, route } = described;
  const { request, answer } = example;
  const called = { ...example, method, path, access: route.operation.access };
  const clientCall = isFirst ? clientCallOf(called) : null;
  return [
    request.title === undefined ? '**Request**' : `**Request: ${request.title}**`,
    fence('sh', curlOf(called)),
    ...(clientCall === null ? [] : [fence('js', clientCall)]),
    ...(answer ? [`**Answer: ${answer.status}**`, fence('json', answerText(answer.body))] : []),
  ];
};

const answersOf = ({ responses }: Operation, schemas: Record<string, Json>): string[] =>
  Object.entries(responses)
    .filter(([, { content }]) => Object.values(content).every(({ examples }) => examples === undefined))
    .flatMap(([status, { description, content }]) => {
      const [media] = Object.values(content);
      const rows = media ? rowsOf(media.schema, schemas) : [];
      return [`**Answer ${status}.** ${description}`, ...(rows.length > 0 ? [fieldsOf(rows, false)] : [])];
    });

const errorsOf = ({ responses }: Operation): string =>
  tableOf(
    ['Status', 'Code', 'Message'],
    Object.entries(responses).flatMap(([status, { content }]) =>
      Object.values(content).flatMap(({ examples = {} }) =>
        Object.entries(examples).map(([code, { value }]) => [status, `\`${code}\``, value.error.message]),
      ),
    ),
  );

const sectionOf = (described: Described, schemas: Record<string, Json>): string => {
  const { method, path, operation, route } = described;
  return [
    `## ${operation.summary}`,
    `\`${method} ${path}\``,
    ...(operation.description === undefined ? [] : [operation.description]),
    ACCESS[route.operation.access],
    ...examplesOf(operation.operationId, route.path).flatMap((example, i) =>
      exampleOf(described, example, i === 0),
    ),
    ...parametersOf(operation, schemas),
    ...bodyOf(operation, schemas),
    ...answersOf(operation, schemas),
    '**Errors**',
    errorsOf(operation),
  ].join('\n\n');
};

const linkTo = ({ method, path, operation }: Described): string[] => [
  `[${operation.summary}](/docs/${slugOf(operation.tags[0] ?? '')}#${anchorOf(operation.summary)})`,
  `\`${method} ${path}\``,
];

const overviewOf = (described: Described[], description: string): string =>
  [
    '# API reference',
    description,
    'The base URL is `https://latchkey.example.com`. [/openapi.json](/openapi.json) has all of this for tools.',
    ...ORDER.flatMap((tag) => [
      `## ${tag}`,
      ABOUT[tag],
      tableOf(
        ['Call', 'Path'],
        described.filter(({ operation }) => operation.tags.includes(tag)).map(linkTo),
      ),
    ]),
  ].join('\n\n');

export const referencePages = (document: ReferenceDocument, routes: Route[]): ReferencePage[] => {
  const schemas = document.components.schemas as Record<string, Json>;
  const described = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, each]): Described => {
      const operation = each as Operation;
      const route = routes.find(({ operation: { id } }) => id === operation.operationId);
      if (!route) throw new Error(`There is no route of ${operation.operationId}.`);
      return { method: method.toUpperCase(), path, operation, route };
    }),
  );
  return [
    { slug: 'api', title: 'API reference', markdown: overviewOf(described, document.info.description) },
    ...ORDER.map((tag) => ({
      slug: slugOf(tag),
      title: tag,
      markdown: [
        `# ${tag}`,
        ABOUT[tag],
        ...described
          .filter(({ operation }) => operation.tags.includes(tag))
          .map((each) => sectionOf(each, schemas)),
      ].join('\n\n'),
    })),
  ];
};
