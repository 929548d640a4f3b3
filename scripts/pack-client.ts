// `npm run pack:client`: builds the client package, and prints the path of its tarball as the last line.
import { packClient } from './client-package.ts';

console.log(await packClient());
