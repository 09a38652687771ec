import type { Request } from './answers.js'

/** A request before its stage is known. */
export type Sent = Omit<Request, 'stage'>

const form =
  (method: string) =>
  (path: string, body?: unknown, as?: string): Sent => {
    const request: Sent = { method, path }
    if (body !== undefined) request.body = body
    if (as !== undefined) request.as = as
    return request
  }

export const get = (path: string, as?: string): Sent => form('GET')(path, undefined, as)
export const post = form('POST')
export const put = form('PUT')
export const patch = form('PATCH')
export const del = form('DELETE')
