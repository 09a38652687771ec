import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Connection, Keypair, SystemProgram, Transaction } from '@solana/web3.js'
import bs58 from 'bs58'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createRegistrarClient } from '../../src/chains/solana/registrar.js'
import { addSolanaCommands } from '../../src/cli/solana/commands.js'
import { programCommand } from '../../src/testing/processes/programs.js'
import { keypairOfAccount, solanaOperatorKeypair } from '../../src/testing/solana/accounts.js'
import { type LocalSolana, startLocalSolana } from '../../src/testing/solana/localSolana.js'
import { runHere } from '../support/cli.js'
import { useFolder } from '../support/folder.js'
import { sendSolanaTransaction, waitForSolanaConfirmation } from '../support/sendSolana.js'

/** `clusterd solana …` against a local cluster: what it prints is signed here and sent. */

let solana: LocalSolana
let connection: Connection
let chains: string
const folder = useFolder()

beforeAll(async () => {
  const started = await startLocalSolana({ slotMs: 50 })
  if (!started) throw new Error('these tests need Surfpool')
  solana = started
  connection = new Connection(solana.rpcUrl, { wsEndpoint: solana.wsUrl, commitment: 'confirmed' })
  const contract = `0x${'11'.repeat(20)}`
  const feed = `0x${'0f'.repeat(20)}`
  chains = join(folder, 'chains.json')
  const hub = { label: '1', role: 'hub', rpcUrls: ['http://127.0.0.1:1'], contract, local: true }
  const feeds = { solUsd: feed, ethUsd: feed }
  const cluster = { rpcUrls: [solana.rpcUrl], programId: solana.programId, feeds }
  writeFileSync(chains, JSON.stringify({ chains: [hub], solana: { mainnet: cluster } }))
})
afterAll(() => solana?.stop())

const runAt = (file: string, ...args: string[]) =>
  runHere(addSolanaCommands, ['solana', ...args], { CLUSTERD_CHAINS: file })
const run = (...args: string[]) => runAt(chains, ...args)

/** Runs a command that is killed when it says that it has written ten pieces. */
async function killed(file: string, ...args: string[]): Promise<void> {
  const { command, args: cli } = await programCommand('cli')
  const child = spawn(command, [...cli, 'solana', ...args], {
    env: { ...process.env, CLUSTERD_CHAINS: file },
  })
  child.stdout.on('data', (bytes: Buffer) => {
    if (bytes.toString().includes('written 10 of')) child.kill('SIGKILL')
  })
  await new Promise((resolve) => child.once('exit', resolve))
  expect(child.signalCode).toBe('SIGKILL')
}

async function send(signer: Keypair, ...args: string[]): Promise<void> {
  const { stdout, stderr } = await run(...args)
  expect(stderr).toContain(`To be signed by ${signer.publicKey.toBase58()}`)
  const tx = Transaction.from(Buffer.from(stdout, 'base64'))
  tx.sign(signer)
  await waitForSolanaConfirmation(connection, [await connection.sendRawTransaction(tx.serialize())])
}

const show = async () => JSON.parse((await run('show')).stdout)
const deployer = solanaOperatorKeypair('deployer')
const keyOf = (index: number) => keypairOfAccount(solana.accounts[index]!)

describe('clusterd solana', () => {
  it('shows the program, rotates the relay key and hands the admin authority over', async () => {
    const treasuryAuthority = solanaOperatorKeypair('treasurer').publicKey.toBase58()
    expect(await show()).toMatchObject({
      adminAuthority: deployer.publicKey.toBase58(),
      proposedAdmin: null,
      treasuryAuthority,
      sequence: '0',
      relayAuthority: solana.relayAuthority.address,
      reclaimSeconds: '604800',
      keptLamports: '0',
    })
    const next = keyOf(0)
    const admin = keyOf(1)
    await send(deployer, 'authorities', '--relay', next.publicKey.toBase58())
    await send(deployer, 'propose-admin', admin.publicKey.toBase58())
    await send(admin, 'accept-admin')
    expect(await show()).toMatchObject({
      adminAuthority: admin.publicKey.toBase58(),
      proposedAdmin: null,
      treasuryAuthority,
      relayAuthority: next.publicKey.toBase58(),
    })
    await send(admin, 'authorities', '--relay', solana.relayAuthority.address)
    expect(await show()).toMatchObject({ relayAuthority: solana.relayAuthority.address })
  }, 60_000)

  it('takes out what is kept', async () => {
    const payer = keyOf(2)
    const relay = keypairOfAccount(solana.relayAuthority)
    const treasurer = solanaOperatorKeypair('treasurer')
    const registrar = createRegistrarClient(solana.programId)
    const key = { payer: payer.publicKey, quoteId: Buffer.alloc(32, 5), sequence: 1n }
    const terms = {
      payer: payer.publicKey.toBytes(),
      name: Buffer.alloc(32, 1),
      referral: Buffer.alloc(32),
      amountWei: 1n,
      lamports: 9_000_000n,
      expiresAt: BigInt(Math.floor(Date.now() / 1_000) + 600),
    }
    const { blockhash } = await connection.getLatestBlockhash()
    const tx = new Transaction({ feePayer: payer.publicKey, recentBlockhash: blockhash })
    tx.add(registrar.register(terms, key.quoteId), registrar.settle(relay.publicKey, [key])).sign(
      payer,
      relay,
    )
    await waitForSolanaConfirmation(connection, [
      await connection.sendRawTransaction(tx.serialize()),
    ])
    const to = Keypair.generate().publicKey
    await send(treasurer, 'withdraw', '8000000', '--to', to.toBase58())
    expect(await connection.getBalance(to)).toBe(8_000_000)
    expect(await show()).toMatchObject({ keptLamports: '1000000', heldLamports: '0' })
    expect((await run('withdraw', '1000001', '--to', to.toBase58())).stderr).toBe(
      'clusterd: The program keeps 1000000 lamports, less than 1000001.\n',
    )
  }, 60_000)

  it('deploys the program, goes on where it was killed, and initializes it with a key', async () => {
    const draft = join(folder, 'draft.json')
    const json = JSON.parse(readFileSync(chains, 'utf8'))
    delete json.chains[0].contract
    json.solana.mainnet = { rpcUrls: [solana.rpcUrl] }
    writeFileSync(draft, JSON.stringify(json))
    const payer = keyOf(3)
    const keyFile = join(folder, 'payer.json')
    writeFileSync(keyFile, JSON.stringify([...payer.secretKey]))
    const key = ['--keypair', keyFile, '--yes']
    const at = (...args: string[]) => runAt(draft, ...args)

    await killed(draft, 'deploy', ...key)
    const { stdout, stderr } = await at('deploy', ...key)
    expect(stderr).toBe('')
    expect(Number(/written (\d+) of/.exec(stdout)![1])).toBeGreaterThan(10)
    const printed = JSON.parse(/\{[^}]+\}/.exec(stdout)![0])
    const { programId, startSlot } = printed
    Object.assign(json.solana.mainnet, printed)
    writeFileSync(draft, JSON.stringify(json))
    const checked = {
      programId,
      code: 'ours',
      deployedSlot: startSlot,
      upgradeAuthority: payer.publicKey.toBase58(),
    }
    const [sha256] = readFileSync('contracts/solana/registrar/registrar.so.sha256', 'utf8').split(
      ' ',
    )
    expect(JSON.parse((await at('upgrade-check')).stdout)).toEqual({ ...checked, sha256 })

    const relay = solana.relayAuthority.address
    const treasury = solanaOperatorKeypair('treasurer').publicKey.toBase58()
    const own = payer.publicKey.toBase58()
    const roles = [
      '--upgrade-authority',
      own,
      '--admin',
      own,
      '--relay',
      relay,
      '--treasury',
      treasury,
    ]
    expect((await at('init', ...roles, '--keypair', keyFile)).stderr).toContain('say --yes')
    expect((await at('init', ...roles, ...key)).stderr).toBe('')
    expect(JSON.parse((await at('show')).stdout)).toMatchObject({
      adminAuthority: own,
      relayAuthority: relay,
    })
    expect((await at('accept-admin', ...key)).stderr).toContain('Nobody is proposed')
    expect((await run('authorities', '--relay', own, ...key)).stderr).toContain('has to sign')
    const proposal = await at('propose-admin', relay, '--base58')
    expect(Transaction.from(bs58.decode(proposal.stdout.trim())).feePayer).toEqual(payer.publicKey)
  }, 90_000)

  it('says what it cannot do', async () => {
    const errorOf = async (...args: string[]) => (await run(...args)).stderr
    expect(await errorOf('accept-admin')).toBe(
      'clusterd: Nobody is proposed: see `clusterd solana propose-admin`.\n',
    )
    expect(await errorOf('authorities')).toContain('Name another --relay or --treasury')
    expect(await errorOf('propose-admin', 'nobody')).toContain('is a Solana address')
    expect(await errorOf('show', '--testnet')).toContain('has no Solana cluster of the testnet')
    const { address } = solana.relayAuthority
    const keys = ['--upgrade-authority', '--admin', '--relay', '--treasury'].flatMap((one) => [
      one,
      address,
    ])
    expect(await errorOf('init', ...keys, '--reclaim-days', '31')).toContain(
      '--reclaim-days is a number from 1 to 30',
    )
    expect(await errorOf('init', ...keys)).toContain('To be signed by')
    // the program would take nine times what a stranger has sent there
    const move = {
      fromPubkey: keyOf(0).publicKey,
      toPubkey: createRegistrarClient(solana.programId).treasury,
    }
    const sent = SystemProgram.transfer({ ...move, lamports: 60_000_000 })
    await sendSolanaTransaction(connection, [keyOf(0)], sent)
    expect(await errorOf('init', ...keys)).toMatch(/Somebody has sent \d+ lamports to the treasury/)
    // this program is in use: nobody is to deploy another one
    expect(await errorOf('init', ...keys)).toContain('The program is initialized already')
  })
})
