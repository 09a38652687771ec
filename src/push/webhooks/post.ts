import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import '../../ops/connectAttemptTimeout.js'
import { lookupPublicAddress, parseWebhookUrl } from './target.js'

/** Time limit of a delivery, from the connection to the response's head, ms. */
export const POST_TIMEOUT_MS = 10_000

export interface PostOptions {
  url: string
  headers: Readonly<Record<string, string>>
  body: string
  /** True if the URL may have a private address, and HTTP without TLS. */
  allowsPrivate: boolean
  signal: AbortSignal
}

/**
 * Posts a message to a webhook over a new connection. Redirects are not followed and the response's body is not read,
 * so that a receiver can make this process neither send requests nor store data.
 * @returns the response's status
 * @throws TargetRefusedError, a timeout, or the connection's error
 */
export function postWebhookMessage({
  url: text,
  headers,
  body,
  allowsPrivate,
  signal,
}: PostOptions): Promise<number> {
  const url = parseWebhookUrl(text, allowsPrivate)
  const late = AbortSignal.timeout(POST_TIMEOUT_MS)
  return new Promise((resolve, reject) => {
    const bytes = Buffer.from(body)
    const open = url.protocol === 'https:' ? httpsRequest : httpRequest
    const request = open(url, {
      method: 'POST',
      agent: false,
      headers: {
        ...headers,
        'content-type': 'application/json',
        'content-length': bytes.length,
        'user-agent': 'clusterd',
      },
      signal: AbortSignal.any([signal, late]),
      ...(!allowsPrivate && { lookup: lookupPublicAddress }),
    })
    request.on('error', (error) =>
      reject(late.aborted ? new Error(`no answer within ${POST_TIMEOUT_MS / 1_000} s`) : error),
    )
    // a response that changes the protocol (101) closes the connection without an error. After a response, `reject` has
    // no effect
    request.on('close', () => reject(new Error('the connection was closed without an answer')))
    request.on('response', (response) => {
      response.on('error', () => {})
      resolve(response.statusCode ?? 0)
      response.destroy()
    })
    request.end(bytes)
  })
}
