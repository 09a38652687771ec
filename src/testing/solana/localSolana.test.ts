import { Connection, PublicKey } from '@solana/web3.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createMint, mintTokens, payCommunity } from '../../../test/support/solanaTokens.js'
import { createSolanaRpc } from '../../chains/rpc/solana.js'
import { createCommunityPort } from '../../chains/solana/community/port.js'
import { createCommunityProgram } from '../../chains/solana/community/program.js'
import { readSequences, readTransaction } from '../../chains/solana/reads.js'
import { createRegistrar } from '../../chains/solana/registrar.js'
import { readMintDecimals } from '../../chains/solana/tokens.js'
import { isAlive } from '../processes/processes.js'
import { keypairOf, solanaOperator } from './accounts.js'
import { type LocalSolana, startLocalSolana } from './localSolana.js'
import { payQuote } from './payQuote.js'
import { deployRegistrar } from './registrar.js'
import { confirmSolana, sendSolana } from './sendSolana.js'

let solana: LocalSolana
let connection: Connection

beforeAll(async () => {
  const started = await startLocalSolana({ slotMs: 50, programs: 2 })
  if (!started) throw new Error('Surfpool has no package for this platform')
  solana = started
  connection = new Connection(solana.rpcUrl, { wsEndpoint: solana.wsUrl, commitment: 'confirmed' })
})

afterAll(() => solana?.stop())

const word = (fill: number) => Buffer.alloc(32, fill)

function pay(programId: string, quoteId: Buffer): Promise<string> {
  const payer = keypairOf(solana.accounts[0]!)
  const expiresAt = BigInt(Math.floor(Date.now() / 1_000) + 600)
  const terms = { payer: payer.publicKey.toBytes(), name: word(1), referral: word(0) }
  const offer = { ...terms, amountWei: 10n ** 16n, lamports: 200_000_000n, expiresAt }
  return sendSolana(connection, [payer], createRegistrar(programId).register(offer, quoteId))
}

it('has registrars apart from each other, and payers with SOL', async () => {
  const [one, two] = solana.programs.map(({ programId }) => createRegistrar(programId))
  expect(one!.programId).not.toEqual(two!.programId)
  await pay(solana.programId, word(7))
  const states = await connection.getMultipleAccountsInfo([one!.state, two!.state])
  const [first, second] = states.map((account) => one!.decodeState(account!.data))
  expect([first!.sequence, second!.sequence]).toEqual([1n, 0n])
  expect(first!.relayAuthority).toEqual(new PublicKey(solana.relayAuthority.address))
  expect(await connection.getGenesisHash()).toBe(solana.genesisHash)
})

it('takes a program by the loader’s own transactions, as any cluster does', async () => {
  const { programId } = await deployRegistrar(connection, solanaOperator('deployer'))
  await pay(programId.toBase58(), word(8))
  const { state, decodeState } = createRegistrar(programId.toBase58())
  const account = await connection.getAccountInfo(state)
  expect(decodeState(account!.data)).toMatchObject({ sequence: 1n, heldLamports: 200_000_000n })
})

it('refuses what the program refuses, and says why', async () => {
  await expect(pay(solana.programId, word(7))).rejects.toThrow(/"Custom":6012/)
})

describe('names of communities', () => {
  it('are paid in SOL and tokens by what the port builds, refused by the relay authority and paid back', async () => {
    const registrar = createRegistrar(solana.programId)
    const rpc = createSolanaRpc({ label: 'solana', urls: [solana.rpcUrl] })
    const port = createCommunityPort(rpc, registrar)
    const [account, other] = [solana.accounts[1]!, solana.accounts[2]!]
    const payer = keypairOf(account)
    const authority = keypairOf(other)
    const mint = await createMint(connection, authority)
    const token = mint.toBase58()
    await mintTokens(connection, authority, { mint, owner: payer.publicKey, amount: 1_000n })
    expect(await port.tokenBalance(token, account.address)).toBe(1_000n)
    expect(await port.tokenBalance(token, solana.accounts[3]!.address)).toBe(0n)
    // neither a mint nor anything else
    expect(await port.tokenBalance(account.address, account.address)).toBe(0n)
    const decimals = await rpc.onOneNode((call) => readMintDecimals(call, mint))
    expect(decimals).toBe(6)

    const ask = (name: string, paidIn: string, amount: bigint) => {
      const price = { network: 'solana', token: paidIn, amount, recipient: other.address }
      return port.communityPayment({ community: 'club', name, price, payer: account.address, referral: null })
    }
    const quotes = [await ask('sol', 'native', 5_000_000n), await ask('spl', token, 400n)]
    const payments = quotes.map((quote) => quote.type === 'solana' && payQuote(solana, account, quote.base64))
    const signatures = (await Promise.all(payments)).filter((signature) => signature !== false)
    await confirmSolana(connection, signatures)
    expect(await port.tokenBalance(token, account.address)).toBe(600n)
    await expect(ask('wrong', other.address, 1n)).rejects.toThrow(/is no token of the SPL Token program/)
    const txs = await Promise.all(
      signatures.map((signature) => rpc.onOneNode((call) => readTransaction(call, registrar, signature, 'confirmed'))),
    )
    const program = createCommunityProgram(registrar)
    const stateOf = async (account: PublicKey) => {
      const found = await connection.getAccountInfo(account)
      return found && program.decodePayment(found.data)
    }
    const [sol, spl] = txs.map((tx) => tx!.communityPayments[0]!)
    const counted = {
      ...{ payer: payer.publicKey, number: spl!.number, sequence: spl!.sequence },
      ...{ token: mint, recipient: authority.publicKey },
    }
    expect(await stateOf(program.paymentAccount(counted))).toMatchObject({
      ...{ ...counted, amount: 400n, reclaimableAt: spl!.reclaimableAt, state: 'held' },
    })

    const relay = keypairOf(solana.relayAuthority)
    const inSol = { ...counted, number: sol!.number, sequence: sol!.sequence, token: null }
    const signature = await sendSolana(connection, [relay], program.refuse(relay.publicKey, [counted, inSol]))
    const refused = await rpc.onOneNode((call) => readTransaction(call, registrar, signature, 'confirmed'))
    const outcome = { of: 'communityName', outcome: 'refused' }
    expect(refused?.ends).toEqual([
      { ...outcome, sequence: counted.sequence },
      { ...outcome, sequence: inSol.sequence },
    ])
    expect(await stateOf(program.paymentAccount(counted))).toBeNull()
    expect(await port.tokenBalance(token, account.address)).toBe(1_000n)
    const order = { community: 'club', name: 'spl', amount: 300n, recipient: authority.publicKey }
    await payCommunity(connection, solana.programId, payer, { ...order, token: { mint, decimals: 6 } })
    expect(await port.tokenBalance(token, account.address)).toBe(700n)
    const { communityNames } = await rpc.onOneNode((call) => readSequences(call, registrar, 'confirmed'))
    expect(communityNames).toBe(3)
  })
})

it('can be killed', async () => {
  const { surfpool } = solana
  await surfpool!.kill()
  expect(isAlive(surfpool!.pid)).toBe(false)
  await expect(connection.getSlot()).rejects.toThrow()
})
