/** Requests JSON from an API. @throws Error with the answer for an error status */
export async function ask<T>(api: string, path: string, init: RequestInit = {}): Promise<T> {
  const response = await fetch(`${api}${path}`, init)
  const body: unknown = await response.json()
  if (!response.ok)
    throw new Error(`${init.method ?? 'GET'} ${path}: ${response.status} ${JSON.stringify(body)}`)
  return body as T
}
