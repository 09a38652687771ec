import { randomBytes } from 'node:crypto'
import { formatUnits } from 'viem'
import type { World, WorldSolana } from '../../testing/index.js'
import { paint } from '../paint.js'
import { apiOf, followStatus, say, showName, step } from './tools.js'

const SOL_DECIMALS = 9

interface SolanaQuote {
  transactionData: string[]
  registrationFee: string
  bridgeFee: string
}

/** Registers a name from a Solana wallet, paid in SOL and relayed to the hub, and prints its latency. */
export async function registerFromSolana(
  world: World,
  solana: WorldSolana,
  name: string,
  testnet: boolean,
): Promise<void> {
  const { payQuote } = await import('../../testing/solana/payQuote.js')
  const { accounts } = world
  const account = accounts.solana[randomBytes(1).readUInt8(0) % accounts.solana.length]
  if (!account) throw new Error('The world file names no accounts on Solana: start the world again.')
  const ask = apiOf(world.api, testnet)

  say(`${paint('bold', name)} for ${account.address} on network "solana", paid in SOL`)
  const quote = await ask<SolanaQuote>('POST', '/v1/names/register/solana', {
    network: 'solana',
    sender: account.address,
    names: [{ name }],
  })
  const [fee, bridge] = [quote.registrationFee, quote.bridgeFee].map((lamports) =>
    formatUnits(BigInt(lamports), SOL_DECIMALS),
  )
  step('quote', `registration fee ${fee} SOL and bridge fee ${bridge} SOL, to program ${solana.programId}`)

  const sentMs = performance.now()
  const signature = await payQuote(solana, account, quote.transactionData[0] ?? '')
  step('sent', signature)
  const ms = await followStatus(world, signature, sentMs, testnet)
  await showName(world, name, account.address, testnet)
  step('latency', `${(ms / 1_000).toFixed(2)} s from the payment to the name being final on the hub`)
  say('')
}
