import { timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

const MAX_BYTES = 4_096
const TYPE = 'application/x-www-form-urlencoded'

/** A form that is not taken. */
export class FormRefusedError extends Error {
  override name = 'FormRefusedError'
}

/**
 * Reads a form of one of the operator's pages. Another site's page can send one too, with the operator's browser, but
 * can't read the token that ours hold.
 * @throws FormRefusedError with one sentence
 */
export async function readForm(request: IncomingMessage, token: string): Promise<URLSearchParams> {
  const { 'content-type': type = '', 'sec-fetch-site': site } = request.headers
  if (!type.startsWith(TYPE)) throw new FormRefusedError('This is no form.')
  if (site !== undefined && site !== 'same-origin') throw new FormRefusedError('The form is of another site.')
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > MAX_BYTES) throw new FormRefusedError('The form is too long.')
    chunks.push(chunk)
  }
  const form = new URLSearchParams(Buffer.concat(chunks).toString())
  const given = Buffer.from(form.get('token') ?? '')
  const expected = Buffer.from(token)
  if (given.length !== expected.length || !timingSafeEqual(given, expected))
    throw new FormRefusedError('The form is not of this process: load the page again.')
  return form
}
