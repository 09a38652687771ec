import { randomBytes } from 'node:crypto'
import bs58 from 'bs58'
import { bodyOf, serve } from '../../support/httpServer.js'

/** What a payer sends to the ledger: the terms of a quote, and the quote's id. */
export interface Order {
  payer: string
  name: string
  amountWei: string
  units: string
  expiresAt: number
  quoteId: string
}

/** A payment on the ledger. `id`: 64 bytes in base58. */
export interface LedgerPayment extends Order {
  sequence: number
  id: string
  height: number
  timeMs: number
}

/**
 * A chain of another kind: a list of payments over HTTP. `POST /pay` adds a payment in a block of its own, `GET
 * /payments?after=` lists the later ones, `GET /payments/:id` has one, `GET /head` the number of blocks.
 */
export async function startLedger() {
  const payments: LedgerPayment[] = []
  const answerOf = (method: string, { pathname, searchParams }: URL, body: string): unknown => {
    if (method === 'POST') {
      const sequence = payments.length + 1
      const id = bs58.encode(randomBytes(64))
      payments.push({ ...JSON.parse(body), sequence, id, height: sequence, timeMs: Date.now() })
      return { id }
    }
    if (pathname === '/head') return { height: payments.length }
    const after = searchParams.get('after')
    if (after !== null) return payments.filter(({ sequence }) => sequence > Number(after))
    return payments.find(({ id }) => pathname.endsWith(id)) ?? null
  }
  return serve(async (req, res) => {
    const answer = answerOf(req.method!, new URL(req.url!, 'http://ledger'), await bodyOf(req))
    res.end(JSON.stringify(answer))
  })
}
