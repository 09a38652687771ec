import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { parseDraft, presetOf } from '../../config/index.js'
import { NETWORKS } from '../../registry/primitives/network.js'
import { paint } from '../output.js'
import { chainsFileOf, type NewDeployment, type NewFile, newDeployment } from './files.js'
import { type Ask, type InitOptions, type Wishes, wishesOf } from './wishes.js'

/** `clusterd init`: writes the files of a new deployment into a folder that has none of them. */
export async function init(options: InitOptions): Promise<void> {
  const folder = resolve(options.out)
  const isAsking = process.stdin.isTTY === true && !options.yes
  const { ask, close } = isAsking ? terminal() : { ask: unasked, close: () => {} }
  try {
    const wishes = await wishesOf(options, ask)
    parseDraft(JSON.parse(chainsFileOf(wishes)), join(folder, 'chains.json'))
    const deployment = newDeployment(wishes, `${process.getuid?.() ?? 1000}:${process.getgid?.() ?? 1000}`)
    refuseExisting(folder, deployment.files)
    const names = deployment.files.map(({ name }) => name).join(', ')
    const sure = await ask({ text: `Write ${names} into ${folder} (y/n)?`, option: '--yes', fallback: 'y' })
    if (!/^y/i.test(sure)) throw new Error('Nothing was written.')
    write(folder, deployment.files)
    report(folder, deployment, wishes)
  } finally {
    close()
  }
}

/** Stands for a terminal where there is none. */
const unasked: Ask = async ({ text, option, fallback }) => {
  if (fallback === undefined) throw new Error(`${text} Name it: ${option}.`)
  return fallback
}

function terminal(): { ask: Ask; close: () => void } {
  const lines = createInterface({ input: process.stdin, output: process.stdout })
  const isOver = new Promise<never>((_, reject) => {
    lines.once('close', () => reject(new Error('Nothing was written.')))
  })
  isOver.catch(() => {})
  const ask: Ask = async ({ text, fallback }) => {
    const shown = `${text}${fallback ? ` [${fallback}]` : ''} `
    return (await Promise.race([lines.question(shown), isOver])).trim() || (fallback ?? '')
  }
  return { ask, close: () => lines.close() }
}

function refuseExisting(folder: string, files: readonly NewFile[]): void {
  const there = files.filter(({ name }) => existsSync(join(folder, name))).map(({ name }) => name)
  if (there.length > 0)
    throw new Error(`${folder} already holds ${there.join(', ')}: nothing was written. Name another folder (--out).`)
}

/** Writes all files or none. */
function write(folder: string, files: readonly NewFile[]): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const written: string[] = []
  try {
    for (const { name, content, mode } of files) {
      writeFileSync(join(folder, name), content, { mode, flag: 'wx' })
      written.push(name)
    }
  } catch (error) {
    for (const name of written) rmSync(join(folder, name))
    throw error
  }
}

function report(folder: string, deployment: NewDeployment, wishes: Wishes): void {
  const { files, relayer, relayAuthority } = deployment
  console.log(`Written to ${folder}: ${files.map(({ name }) => name).join(', ')}.\n`)
  console.log(`The relayer is ${paint('bold', relayer)}: it pays for deliveries, on the hub first of all.`)
  if (relayAuthority) console.log(`The relay authority on Solana is ${paint('bold', relayAuthority)}.`)
  console.log(`\nNext, in ${folder}, as docs/deploying.md goes through it:`)
  for (const line of nextSteps(deployment, wishes)) console.log(`  ${line}`)
}

/** What is left to do up to a start: `<…>` is the operator's to fill in. */
function nextSteps({ relayer, relayAuthority }: NewDeployment, { chains, solana, compose }: Wishes): string[] {
  const networks = NETWORKS.filter((network) => chains.some(({ label }) => presetOf(label)!.network === network))
  const owners = networks.map((network) => `"${network}": { "owner": "<address>", "relayer": "${relayer}" }`)
  const key = '--keystore <file> --password-file <file>'
  const contracts = networks.flatMap((network) => {
    const of = networks.length > 1 ? ` --${network}` : ''
    return [
      `clusterd contracts deploy${of} ${key}      # any funded key; writes the addresses into chains.json`,
      `clusterd contracts configure${of} ${key}   # the owner's key; of a Safe: --unsigned safe --out batches`,
    ]
  })
  const inCompose = compose ? 'docker compose run --rm clusterd' : 'clusterd'
  return [
    ...(compose ? [] : ['see DATABASE_URL in .env']),
    `say whose the contracts are to be, in chains.json: "deployment": { ${owners.join(', ')} }`,
    ...contracts,
    ...(solana ? solanaSteps(solana, relayAuthority!) : []),
    `${inCompose} doctor   # checks all of it, and says what to do`,
    compose ? 'docker compose up -d      # compose.yaml says how the image is built' : 'clusterd start',
  ]
}

function solanaSteps({ network }: NonNullable<Wishes['solana']>, relay: string): string[] {
  const of = network === 'testnet' ? ' --testnet' : ''
  return [
    `clusterd solana deploy${of} --keypair <file>   # the program, paid by this key`,
    `clusterd solana init${of} --upgrade-authority <its key> --admin <key> --relay ${relay} --treasury <key> --keypair <file>`,
    `name the hub's price feeds in chains.json, solana.${network}.feeds, unless it is Ethereum`,
  ]
}
