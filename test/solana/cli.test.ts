import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Connection, Keypair, Transaction } from '@solana/web3.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createRegistrar } from '../../src/chains/solana/registrar.js'
import { programCommand } from '../../src/testing/processes/programs.js'
import { keypairOf, solanaOperator } from '../../src/testing/solana/accounts.js'
import { type LocalSolana, startLocalSolana } from '../../src/testing/solana/localSolana.js'
import { confirmSolana } from '../../src/testing/solana/sendSolana.js'

/** `clusterd solana …` against a local cluster: what it prints is signed here and sent. */

let solana: LocalSolana
let connection: Connection
let chains: string
const folder = mkdtempSync(join(tmpdir(), 'clusterd-cli-'))

beforeAll(async () => {
  const started = await startLocalSolana({ slotMs: 50 })
  if (!started) throw new Error('these tests need Surfpool')
  solana = started
  connection = new Connection(solana.rpcUrl, { wsEndpoint: solana.wsUrl, commitment: 'confirmed' })
  const [contract, feed] = [`0x${'11'.repeat(20)}`, `0x${'0f'.repeat(20)}`]
  chains = join(folder, 'chains.json')
  const hub = { label: '1', role: 'hub', rpcUrls: ['http://127.0.0.1:1'], contract, local: true }
  const cluster = {
    ...{ rpcUrls: [solana.rpcUrl], programId: solana.programId },
    feeds: { solUsd: feed, ethUsd: feed },
  }
  writeFileSync(chains, JSON.stringify({ chains: [hub], solana: { mainnet: cluster } }))
})
afterAll(async () => {
  await solana?.stop()
  rmSync(folder, { recursive: true })
})

async function run(...args: string[]): Promise<{ stdout: string; stderr: string }> {
  const { command, args: cli } = await programCommand('cli')
  const env = { ...process.env, CLUSTERD_CHAINS: chains }
  return promisify(execFile)(command, [...cli, 'solana', ...args], { env }).catch((error) => error)
}

async function send(signer: Keypair, ...args: string[]): Promise<void> {
  const { stdout, stderr } = await run(...args)
  expect(stderr).toContain(`To be signed by ${signer.publicKey.toBase58()}`)
  const tx = Transaction.from(Buffer.from(stdout, 'base64'))
  tx.sign(signer)
  await confirmSolana(connection, [await connection.sendRawTransaction(tx.serialize())])
}

const show = async () => JSON.parse((await run('show')).stdout)
const deployer = solanaOperator('deployer')
const keyOf = (index: number) => keypairOf(solana.accounts[index]!)

describe('clusterd solana', () => {
  it('shows the program, rotates the relay key and hands the admin authority over', async () => {
    const treasuryAuthority = solanaOperator('treasurer').publicKey.toBase58()
    expect(await show()).toMatchObject({
      ...{ adminAuthority: deployer.publicKey.toBase58(), proposedAdmin: null, treasuryAuthority, sequence: '0' },
      ...{ relayAuthority: solana.relayAuthority.address, reclaimSeconds: '604800', keptLamports: '0' },
    })
    const [next, admin] = [keyOf(0), keyOf(1)]
    await send(deployer, 'authorities', '--relay', next.publicKey.toBase58())
    await send(deployer, 'propose-admin', admin.publicKey.toBase58())
    await send(admin, 'accept-admin')
    expect(await show()).toMatchObject({
      ...{ adminAuthority: admin.publicKey.toBase58(), proposedAdmin: null, treasuryAuthority },
      relayAuthority: next.publicKey.toBase58(),
    })
    await send(admin, 'authorities', '--relay', solana.relayAuthority.address)
    expect(await show()).toMatchObject({ relayAuthority: solana.relayAuthority.address })
  }, 60_000)

  it('takes out what is kept', async () => {
    const [payer, relay, treasurer] = [keyOf(2), keypairOf(solana.relayAuthority), solanaOperator('treasurer')]
    const registrar = createRegistrar(solana.programId)
    const key = { payer: payer.publicKey, quoteId: Buffer.alloc(32, 5), sequence: 1n }
    const terms = {
      ...{ payer: payer.publicKey.toBytes(), name: Buffer.alloc(32, 1), referral: Buffer.alloc(32), amountWei: 1n },
      ...{ lamports: 9_000_000n, expiresAt: BigInt(Math.floor(Date.now() / 1_000) + 600) },
    }
    const { blockhash } = await connection.getLatestBlockhash()
    const tx = new Transaction({ feePayer: payer.publicKey, recentBlockhash: blockhash })
    tx.add(registrar.register(terms, key.quoteId), registrar.settle(relay.publicKey, [key])).sign(payer, relay)
    await confirmSolana(connection, [await connection.sendRawTransaction(tx.serialize())])
    const to = Keypair.generate().publicKey
    await send(treasurer, 'withdraw', '8000000', '--to', to.toBase58())
    expect(await connection.getBalance(to)).toBe(8_000_000)
    expect((await run('withdraw', '1000001', '--to', to.toBase58())).stderr).toBe(
      'clusterd: The program keeps 1000000 lamports, less than 1000001.\n',
    )
  }, 60_000)

  it('prints the interface with the deployment’s address', async () => {
    expect(JSON.parse((await run('idl')).stdout)).toMatchObject({
      address: solana.programId,
      instructions: expect.any(Array),
    })
  })

  it('says what it cannot do', async () => {
    const errorOf = async (...args: string[]) => (await run(...args)).stderr
    expect(await errorOf('accept-admin')).toBe('clusterd: Nobody is proposed: see `clusterd solana propose-admin`.\n')
    expect(await errorOf('authorities')).toContain('Name another --relay or --treasury')
    expect(await errorOf('propose-admin', 'nobody')).toContain('is a Solana address')
    expect(await errorOf('show', '--testnet')).toContain('has no Solana cluster of the testnet')
    const keys = ['--upgrade-authority', '--admin', '--relay', '--treasury'].flatMap((one) => [
      one,
      solana.relayAuthority.address,
    ])
    expect(await errorOf('init', ...keys, '--reclaim-days', '31')).toContain('--reclaim-days is a number from 1 to 30')
  })
})
