import { bodyOf, serve } from './httpServer.js'

/**
 * Called with each JSON-RPC method, and the whole question, before it is passed on. `lost`: passed on, but the answer
 * never comes back; a function: the answer is what it makes of the node's; a body: the question that is passed on,
 * with the function that makes the answer, if any; a status: the answer is an HTTP error.
 */
export type OnCall = (
  method: string,
  body: string,
) => Promise<
  'lost' | MakeAnswer | { body: string; answer?: MakeAnswer } | { status: number } | undefined
>

type MakeAnswer = (answer: string) => string

/** A node's address that passes everything on to another one, except for what a test does in between. */
export async function startRpcProxy(
  target: string,
  onCall: OnCall,
): Promise<{ url: string; stop(): Promise<void> }> {
  return serve((request, response) => {
    const answer = async (): Promise<void> => {
      const asked = await bodyOf(request)
      const verdict = await onCall((JSON.parse(asked) as { method: string }).method, asked)
      if (typeof verdict === 'object' && 'status' in verdict) {
        response.writeHead(verdict.status).end('an error of a proxy')
        return
      }
      const body = typeof verdict === 'object' ? verdict.body : asked
      const passed = await fetch(target, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      })
      const given = await passed.text()
      const make = typeof verdict === 'object' ? verdict.answer : verdict
      const text = typeof make === 'function' ? make(given) : given
      if (verdict === 'lost') response.destroy()
      else response.writeHead(passed.status, { 'content-type': 'application/json' }).end(text)
    }
    answer().catch(() => response.destroy())
  })
}
