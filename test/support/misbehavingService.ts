import type { RequestListener, ServerResponse } from 'node:http'
import { expect } from 'vitest'
import { Client, type ClientOptions, type ClusterdError } from '../../src/client/index.js'
import { serveInTest } from './httpServer.js'

/** A client of a service that misbehaves as a test requires, and the requests that the service receives. */
export async function clientOf(handler: RequestListener, options: Partial<ClientOptions> = {}) {
  const asked: string[] = []
  const url = await serveInTest((req, res) => {
    asked.push(`${req.method} ${req.url}`)
    handler(req, res)
  })
  return { asked, client: new Client({ url, ...options }) }
}

/** Answers with JSON. */
export const json = (res: ServerResponse, body: unknown, status = 200, headers = {}) =>
  res
    .writeHead(status, { 'content-type': 'application/json', ...headers })
    .end(JSON.stringify(body))

/** Answers with an error in the service's form. */
export const failure = (res: ServerResponse, status: number, error: string, headers = {}) =>
  json(res, { status, error, message: `It is ${error}.` }, status, headers)

/** The error of work that has to fail. */
export const caught = (work: Promise<unknown>): Promise<ClusterdError> =>
  work.then(
    () => expect.unreachable(),
    (error) => error,
  )
