// A keep-alive HTTP/1.1 connection with minimal overhead.
import { once } from 'node:events';
import { connect } from 'node:net';

export interface Answer {
  status: number;
  body: string;
}

const HEAD_END = '\r\n\r\n';
const LAST_CHUNK = '\r\n0\r\n\r\n';

const unchunked = (text: string): string => {
  let body = '';
  for (let at = 0; ;) {
    const lineEnd = text.indexOf('\r\n', at);
    const size = Number.parseInt(text.slice(at, lineEnd), 16);
    if (size === 0) return body;
    body += text.slice(lineEnd + 2, lineEnd + 2 + size);
    at = lineEnd + 2 + size + 2;
  }
};

/** Returns the response, or null while it is incomplete. */
const readAnswer = (received: string): Answer | null => {
  const headEnd = received.indexOf(HEAD_END);
  if (headEnd < 0) return null;
  const status = Number(received.slice(9, 12));
  const length = /^content-length: *(\d+)/im.exec(received.slice(0, headEnd + 2))?.[1];
  const bodyAt = headEnd + HEAD_END.length;
  if (length !== undefined) {
    const end = bodyAt + Number(length);
    return received.length < end ? null : { status, body: received.slice(bodyAt, end) };
  }
  // In an empty body the last chunk directly follows the headers.
  const isComplete = received.endsWith(LAST_CHUNK) || received.endsWith(`${HEAD_END}0${HEAD_END}`);
  return isComplete ? { status, body: unchunked(received.slice(bodyAt)) } : null;
};

/** Opens a connection for one call at a time. */
export const openConnection = async (
  port: number,
  onAnswer: (answer: Answer) => void,
  onEnd: (error: Error) => void,
) => {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  await once(socket, 'connect');
  let received = '';
  let isOpen = true;
  // In Latin-1 the number of characters equals the number of bytes.
  socket.setEncoding('latin1');
  socket.on('data', (chunk: string) => {
    received = received === '' ? chunk : received + chunk;
    const answer = readAnswer(received);
    if (!answer) return;
    received = '';
    onAnswer(answer);
  });
  const end = (error?: Error) => {
    if (isOpen) onEnd(error ?? new Error('The connection was closed.'));
    isOpen = false;
  };
  socket.on('error', end);
  socket.on('close', () => end());
  return {
    send: (request: Uint8Array) => {
      socket.write(request);
    },
    close: () => {
      isOpen = false;
      socket.destroy();
    },
  };
};
