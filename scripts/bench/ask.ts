import { type Agent, request } from 'node:http'

export interface Asked {
  body?: string
  /** Authentication key. */
  token?: string
}

/**
 * Sends a request on a connection that is kept open: GET, or POST where there is a body. Returns the response's body.
 * @throws Error for any status but 200
 */
export function ask(agent: Agent, url: string, { body, token }: Asked = {}): Promise<string> {
  const headers = {
    ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }),
    ...(token !== undefined && { 'x-auth-key': token }),
  }
  return new Promise((done, fail) => {
    const req = request(
      url,
      { method: body === undefined ? 'GET' : 'POST', agent, headers },
      (res) => {
        const chunks: Buffer[] = []
        res.on('data', (chunk: Buffer) => chunks.push(chunk))
        res.on('end', () => {
          const text = Buffer.concat(chunks).toString('latin1')
          if (res.statusCode === 200) done(text)
          else fail(new Error(`asking ${url}: ${text}`))
        })
      },
    )
    req.on('error', fail)
    req.end(body)
  })
}
