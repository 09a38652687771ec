import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client } from '../client/index.js'
import type { Cosigner } from '../registry/transparencyLog/signer.js'

/** Source of a mirror: from where it reads transparency logs, and which logs it accepts. */
export interface MirrorSource {
  /** Address of a service, or of a server with its exported log; or a folder of `clusterd journal export`. */
  url: string
  /** Public key of the service's logs, 32 bytes in base64. */
  key: string
  /** API key with which the service allows the mirror more requests. */
  apiKey?: string | undefined
  /** Domain with which the names of the service's logs must begin. Default: any. */
  domain?: string | undefined
  /** Name of a log that may replace the mirrored log without continuing it. */
  accept?: string | undefined
  /** Signs the mirrored checkpoints as a witness. */
  cosigner?: Cosigner | undefined
}

/** Timeout of a request, retries included. */
const REQUEST_LIMIT_MS = 20_000
/**
 * Maximum number of retries of a request: a busy service may refuse some requests while its whole log is mirrored for
 * the first time.
 */
const MAX_RETRIES = 8

/** Path of the transparency logs below a service's address. */
const LOG_PATH_PREFIX = '/v1/log/'

/** A client that reads a source's logs. @throws TypeError for a bad URL */
export function createMirrorSourceClient({ url, apiKey }: MirrorSource): Client {
  const common = { timeoutMs: REQUEST_LIMIT_MS, retries: MAX_RETRIES }
  if (/^https?:\/\//i.test(url))
    return new Client({ url, ...common, ...(apiKey !== undefined && { apiKey }) })
  const folder = url.startsWith('file:') ? fileURLToPath(url) : url
  return new Client({ url: 'http://folder.invalid', fetch: createFolderFetch(folder), ...common })
}

/** Creates a `fetch` that reads files from a folder. The answer for a missing file has status 404. */
const createFolderFetch =
  (folder: string): typeof fetch =>
  async (input) => {
    const path = new URL(String(input)).pathname.slice(LOG_PATH_PREFIX.length)
    try {
      return new Response(new Uint8Array(await readFile(join(folder, path))))
    } catch {
      const body = { error: 'not_found', message: `The folder ${folder} has no file ${path}.` }
      return Response.json(body, { status: 404 })
    }
  }
