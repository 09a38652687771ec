import { Connection, PublicKey } from '@solana/web3.js'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { sendSolanaTransaction } from '../../../test/support/sendSolana.js'
import { createRegistrarClient } from '../../chains/solana/registrar.js'
import { isProcessAlive } from '../processes/processes.js'
import { keypairOfAccount, solanaOperatorKeypair } from './accounts.js'
import { type LocalSolana, startLocalSolana } from './localSolana.js'
import { deployRegistrar } from './registrar.js'

let solana: LocalSolana
let connection: Connection

beforeAll(async () => {
  const started = await startLocalSolana({ slotMs: 50, programs: 2 })
  if (!started) throw new Error('Surfpool has no package for this platform')
  solana = started
  connection = new Connection(solana.rpcUrl, { wsEndpoint: solana.wsUrl, commitment: 'confirmed' })
})

afterAll(() => solana?.stop())

const filledBytes32 = (fill: number) => Buffer.alloc(32, fill)

function payForName(programId: string, quoteId: Buffer): Promise<string> {
  const payer = keypairOfAccount(solana.accounts[0]!)
  const expiresAt = BigInt(Math.floor(Date.now() / 1_000) + 600)
  const terms = {
    payer: payer.publicKey.toBytes(),
    name: filledBytes32(1),
    referral: filledBytes32(0),
  }
  const offer = { ...terms, amountWei: 10n ** 16n, lamports: 200_000_000n, expiresAt }
  return sendSolanaTransaction(
    connection,
    [payer],
    createRegistrarClient(programId).register(offer, quoteId),
  )
}

it('has separate registrars, and payers with SOL', async () => {
  const [one, two] = solana.programs.map(({ programId }) => createRegistrarClient(programId))
  expect(one!.programId).not.toEqual(two!.programId)
  await payForName(solana.programId, filledBytes32(7))
  const states = await connection.getMultipleAccountsInfo([one!.state, two!.state])
  const [first, second] = states.map((account) => one!.decodeState(account!.data))
  expect([first!.sequence, second!.sequence]).toEqual([1n, 0n])
  expect(first!.relayAuthority).toEqual(new PublicKey(solana.relayAuthority.address))
  expect(await connection.getGenesisHash()).toBe(solana.genesisHash)
})

it('deploys a program by the loader’s own transactions, as any cluster does', async () => {
  const { programId } = await deployRegistrar(connection, solanaOperatorKeypair('deployer'))
  await payForName(programId.toBase58(), filledBytes32(8))
  const { state, decodeState } = createRegistrarClient(programId.toBase58())
  const account = await connection.getAccountInfo(state)
  expect(decodeState(account!.data)).toMatchObject({ sequence: 1n, heldLamports: 200_000_000n })
})

it('reports the program’s errors', async () => {
  await expect(payForName(solana.programId, filledBytes32(7))).rejects.toThrow(/"Custom":6012/)
})

it('can be killed', async () => {
  const { surfpool } = solana
  await surfpool!.kill()
  expect(isProcessAlive(surfpool!.pid)).toBe(false)
  await expect(connection.getSlot()).rejects.toThrow()
})
