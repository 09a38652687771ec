import { okAnswer } from '../../../src/api/http/answer.js'
import { declareRoute } from '../../../src/api/http/route.js'
import { type PickSampleAddress, sampleQuoteBody } from '../../../src/api/http/sampleRequests.js'
import { okResponses, z } from '../../../src/api/http/schema.js'
import { CHAIN_CALL_PRICE } from '../../../src/api/limits/costs.js'
import {
  commonQuoteJson,
  quoteOfRequest,
  RegistrationBodySchema,
} from '../../../src/api/v1/quotes.js'
import type { DaemonChainFamily } from '../../../src/daemon/families/family.js'
import { registerChain } from '../../../src/db/chains/chains.js'
import { okResult, runDoctorCheck } from '../../../src/ops/finding.js'
import { askerOf, LEDGER, type Ledger, type LedgerQuote, ledgerPort } from './ledger.js'
import { PROGRAM } from './payment.js'
import { ledgerWatcher } from './watcher.js'

const sender: PickSampleAddress = ({ evmAddress }) => evmAddress()

const quote = declareRoute.post('/v1/names/register/ledger', {
  refusedSample: {
    what: '101 names',
    body: sampleQuoteBody(LEDGER.label, sender, 101),
    error: 'too_many',
  },
  costliestSample: { what: '100 names', body: sampleQuoteBody(LEDGER.label, sender, 100) },
  summary: 'Orders for registering names from the ledger',
  body: RegistrationBodySchema.extend({ network: z.string() }),
  price: CHAIN_CALL_PRICE,
  responses: okResponses('The orders to send', z.object({ orders: z.array(z.unknown()) })),
  errors: ['unsupported_network', 'invalid_sender'],
  async handle(request, context) {
    const quoted = await quoteOfRequest(context, request, LEDGER)
    const { orders } = quoted as typeof quoted & LedgerQuote
    return okAnswer({ type: LEDGER.key, ...commonQuoteJson(quoted), orders })
  },
})

type Named = Record<'key' | 'label', string>

/** The row of the table of families: one ledger on mainnet. */
export const ledgerFamily = (url: string, { key, label }: Named = LEDGER): DaemonChainFamily => ({
  routes: [quote],
  examine: async () => [
    await runDoctorCheck('the ledger', 'Start it.', async () => {
      const { height } = await askerOf(url)<{ height: number }>('/head')
      return okResult(`height ${height}`)
    }),
  ],
  async open({ quoteKeys }, { pool }) {
    const { chain } = await registerChain(pool, {
      network: 'mainnet',
      label,
      instance: '',
      family: key,
      chainId: null,
      genesisHash: Buffer.from(PROGRAM.genesisHash),
      contract: Buffer.from(PROGRAM.programId),
      startBlock: 1,
    })
    const ledger: Ledger = { label, chain, pollMs: 100, quoteKeys, ask: askerOf(url) }
    const port = ledgerPort(ledger)
    return [
      {
        label,
        pollMs: ledger.pollMs,
        port,
        nodes: () => [],
        balances: port,
        watch: (ctx, reporting) => [ledgerWatcher(ctx, ledger, reporting)],
      },
    ]
  },
})
