import type { ApiWorld, Reply } from '../api/support.js'

/** A world's API in the form of the test helpers for members. */
export function apiOf(at: { api: string }): Pick<ApiWorld, 'request' | 'get' | 'post'> {
  const request = async (path: string, init: RequestInit): Promise<Reply> => {
    const answer = await fetch(`${at.api}${path}`, init)
    return { status: answer.status, headers: answer.headers, body: await answer.json() }
  }
  return {
    request,
    get: (path) => request(path, {}),
    post: (path, body) => request(path, { method: 'POST', body: JSON.stringify(body) }),
  }
}
