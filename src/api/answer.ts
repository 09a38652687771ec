import type { ServerResponse } from 'node:http'
import { PUBLIC_HEADERS } from './headers.js'

/** What a request is answered with, before it is bytes. */
export interface Answer {
  status: number
  /** Sent as JSON. */
  body: unknown
  headers?: Readonly<Record<string, string>> | undefined
}

/** A plain 200. */
export const ok = (body: unknown, headers?: Answer['headers']): Answer => ({ status: 200, body, headers })

/** Status answers change from one poll to the next. */
export const NO_STORE = { 'cache-control': 'no-store' } as const

/** Sends an answer in one write. Does nothing when the caller is gone or has been answered. */
export function send(res: ServerResponse, requestId: string, answer: Answer): void {
  if (res.headersSent || res.destroyed) return
  const payload = Buffer.from(JSON.stringify(answer.body))
  const headers: (string | number)[] = [...PUBLIC_HEADERS]
  headers.push('content-type', 'application/json; charset=utf-8', 'content-length', payload.length)
  headers.push('x-request-id', requestId)
  if (answer.headers) for (const [name, value] of Object.entries(answer.headers)) headers.push(name, value)
  res.writeHead(answer.status, headers)
  res.end(payload)
}
