// A load plan: a prebuilt request with places that every call fills in.

/** Concatenated values of the same length, in memory that is shared with the load thread. */
export interface Values {
  width: number;
  count: number;
  bytes: Uint8Array<SharedArrayBuffer>;
}

interface Place {
  offset: number;
  values: Values;
  /** Draws from the first `outOf` values. */
  outOf: number;
  draw: 'random' | 'in turn';
}

export interface Request {
  template: Uint8Array;
  places: Place[];
}

export interface Plan {
  port: number;
  request: Request;
  expect: { status: number; text: string };
  connections: number;
  /** The plan ends at `calls` or `durationMs`, whichever is reached first. */
  calls: number;
  durationMs: number;
}

export interface Outcome {
  calls: number;
  callsPerSecond: number;
  p50Ms: number;
  p95Ms: number;
  /** The number of unexpected responses, and the first of them. */
  wrong: number;
  firstWrong: string | null;
}

export const sharedValues = (texts: string[]): Values => {
  const width = texts[0]?.length ?? 0;
  const bytes = new Uint8Array(new SharedArrayBuffer(width * texts.length));
  const encoder = new TextEncoder();
  texts.forEach((text, index) => {
    if (text.length !== width) throw new Error('Values for the same place must have the same length.');
    bytes.set(encoder.encode(text), index * width);
  });
  return { width, count: texts.length, bytes };
};

export const valueAt = ({ width, bytes }: Values, index: number): string =>
  Buffer.from(bytes.slice(index * width, (index + 1) * width)).toString('latin1');

/** The values that calls fill in. */
export interface Drawn {
  values: Values;
  outOf?: number;
  draw?: Place['draw'];
}

/** Builds a request from text in which `{name}` is a place. */
export const requestOf = (
  method: 'GET' | 'POST',
  path: string,
  headers: Record<string, string>,
  body: string,
  drawn: Record<string, Drawn> = {},
): Request => {
  const filled = (text: string) =>
    text.replace(/\{(\w+)\}/g, (whole, name: string) => {
      const width = drawn[name]?.values.width;
      return width === undefined ? whole : '#'.repeat(width);
    });
  const length = Buffer.byteLength(filled(body));
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const entity = method === 'GET' ? '' : `content-type: application/json\r\ncontent-length: ${length}\r\n`;
  const text = `${method} ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n${lines.join('')}${entity}\r\n${body}`;
  const places = [...text.matchAll(/\{(\w+)\}/g)].flatMap(({ 1: name = '', index }): Place[] => {
    const at = drawn[name];
    if (!at) return [];
    const offset = Buffer.byteLength(filled(text.slice(0, index)));
    const { values, outOf = values.count, draw = 'random' } = at;
    return [{ offset, values, outOf, draw }];
  });
  return { template: new TextEncoder().encode(filled(text)), places };
};
