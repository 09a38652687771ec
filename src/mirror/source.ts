import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client } from '../client/index.js'

/** Where a mirror copies from. */
export interface MirrorSource {
  /** Address of a service, or of what serves its exported log; else a folder of `clusterd journal export`. */
  url: string
  /** Public key of the service's logs, 32 bytes in base64. */
  key: string
  /** API key of the service, which raises the limit of requests. */
  apiKey?: string | undefined
  /** Domain that the names of its logs begin with; default: any. */
  domain?: string | undefined
  /** Name of a log that need not continue the one that was copied. */
  accept?: string | undefined
}

/** Time limit of a request with its repetitions. */
const REQUEST_LIMIT_MS = 20_000
/** A busy service refuses some requests of the first read. */
const RETRIES = 8

/** Paths of the log below a service's address. */
const PREFIX = '/v1/log/'

/** A client that reads a source's logs. @throws TypeError for a bad URL */
export function openSource({ url, apiKey }: MirrorSource): Client {
  const common = { timeoutMs: REQUEST_LIMIT_MS, retries: RETRIES }
  if (/^https?:\/\//i.test(url))
    return new Client({ url, ...common, ...(apiKey !== undefined && { apiKey }) })
  const folder = url.startsWith('file:') ? fileURLToPath(url) : url
  return new Client({ url: 'http://folder.invalid', fetch: readerOf(folder), ...common })
}

/** A `fetch` that reads files of a folder. */
const readerOf =
  (folder: string): typeof fetch =>
  async (input) => {
    const path = new URL(String(input)).pathname.slice(PREFIX.length)
    try {
      return new Response(new Uint8Array(await readFile(join(folder, path))))
    } catch {
      const body = { error: 'not_found', message: `The folder ${folder} has no file ${path}.` }
      return Response.json(body, { status: 404 })
    }
  }
