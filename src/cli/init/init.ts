import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { parseDraft } from '../../config/index.js'
import { paint } from '../output.js'
import { chainsFileOf, type NewDeployment, type NewFile, newDeployment } from './files.js'
import { type Ask, type InitOptions, wishesOf } from './wishes.js'

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
    report(folder, deployment, wishes.compose)
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

function report(folder: string, { files, relayer, relayAuthority }: NewDeployment, compose: boolean): void {
  console.log(`Written to ${folder}: ${files.map(({ name }) => name).join(', ')}.\n`)
  console.log(`The relayer is ${paint('bold', relayer)}: it pays for deliveries, on the hub first of all.`)
  if (relayAuthority) console.log(`The relay authority on Solana is ${paint('bold', relayAuthority)}.`)
  console.log(`\nNext, in ${folder}:`)
  if (!compose) console.log('  see DATABASE_URL in .env')
  console.log('  clusterd contracts deploy   # deploys the contracts and writes their addresses into chains.json')
  if (relayAuthority) console.log('  clusterd solana deploy      # the program on Solana, the same')
  console.log('  clusterd doctor             # checks all of it, and says what to do')
  console.log(compose ? '  docker compose up -d' : '  clusterd start')
}
