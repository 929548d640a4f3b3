// The examples of operations, with the answers that the service gave.
import answers from './answers.json' with { type: 'json' };
import { fillRequest, type FilledRequest, type Values } from './fill.ts';
import type { KeptAnswer } from './keep.ts';
import { type ExampleRequest, nameOf, REQUESTS } from './requests.ts';

export interface Example {
  request: ExampleRequest;
  filled: FilledRequest;
  /** The values of the path's parameters, by name. */
  parameters: Values;
  answer: KeptAnswer | undefined;
}

const KEPT: Record<string, KeptAnswer | undefined> = answers;

/** The examples of an operation. `route` is its path, such as `/api/webhooks/:id`. */
export const examplesOf = (operation: string, route: string): Example[] =>
  REQUESTS.filter((request) => request.operation === operation).map((request) => {
    const answer = KEPT[nameOf(request)];
    const filled = fillRequest(request, route, answer?.values ?? {});
    const names = [...route.matchAll(/:([a-z_]+)/g)].map(([, name = '']) => name);
    const [path = ''] = filled.path.split('?');
    const parts = route
      .split('/')
      .flatMap((part, i) => (part.startsWith(':') ? [path.split('/')[i] ?? ''] : []));
    const parameters = Object.fromEntries(names.map((name, i) => [name, parts[i] ?? '']));
    return { request, filled, parameters, answer };
  });

/** The lines of a stream are documented one by one, so its first line is the example. */
const documentedBody = ({ body }: KeptAnswer): unknown =>
  Array.isArray(body) ? (body as unknown[])[0] : body;

interface DocumentedExample {
  parameters: Values;
  body?: { contentType: string | undefined; example: unknown };
  answer?: { status: number; example: unknown };
}

/** What the OpenAPI document shows: the first example of an operation. */
export const documentedExample = (operation: string, route: string): DocumentedExample => {
  const [example] = examplesOf(operation, route);
  if (!example) return { parameters: {} };
  const { request, filled, parameters, answer } = example;
  return {
    parameters,
    ...(request.body !== undefined && {
      body: {
        contentType: filled.headers['content-type'],
        example: typeof request.body === 'string' ? request.body : (JSON.parse(filled.body ?? '') as unknown),
      },
    }),
    ...(answer && { answer: { status: answer.status, example: documentedBody(answer) } }),
  };
};
