import { Command } from 'commander'
import { expect, it, vi } from 'vitest'
import { expectWithin } from '../../test/setup/processorTime.js'
import { redactedCommandLine } from './recorded.js'
import { redactSecrets } from './withoutSecrets.js'

const KEY = 'c0ffee'.repeat(11).slice(0, 64)

it.each<[what: string, text: string, shown: string]>([
  ['a database with a password', 'postgresql://u:hunter2@db:5432/c', 'postgresql://db:5432/…'],
  ['a password with @ and blanks', 'postgresql://u:hun@ter 2@db/c', 'postgresql://db/…'],
  [
    'a node with a key in its path',
    'https://mainnet.infura.io/v3/hunter2',
    'https://mainnet.infura.io/…',
  ],
  ['a webhook with a token', 'https://h.example/a?token=hunter2#x', 'https://h.example/…'],
  [
    'a URL in a sentence',
    'https://h.example/hunter2 answers with status 404.',
    'https://h.example/… answers with status 404.',
  ],
  ['a URL of no form', 'postgresql://u:hunter2@[db/c', '…'],
  ['a user and a password', 'u:hunter2@db/c', '…'],
  ['a private key', `0x${KEY}`, '…'],
  ['a private key without 0x', KEY, '…'],
  ['a secret key of Solana', '4'.repeat(88), '…'],
  ['a list of bytes', JSON.stringify([...Buffer.alloc(64, 7)]), '…'],
  ['an API key', `ck_${'4'.repeat(43)}`, '…'],
  ['a key of a webhook', `whsec_${Buffer.alloc(24, 1).toString('base64')}`, '…'],
  ['an identity of age', `AGE-SECRET-KEY-1${'Q'.repeat(58)}`, 'AGE-SECRET-KEY-…'],
  ['a key of 32 bytes in base64', Buffer.alloc(32, 7).toString('base64'), '…'],
  [
    'a password of PostgreSQL’s own form',
    'host=db password=hunter2 user=u',
    'host=db password=… user=u',
  ],
  ['a quoted password', `password='hunter 2' user=u`, 'password=… user=u'],
  ['an option', '--api-key=hunter2', '--api-key=…'],
  ['JSON', '{"rpc":1,"privateKey": "hunter2"}', '{"rpc":1,"privateKey": …}'],
  ['a variable', 'OPS_TOKEN=hunter2', 'OPS_TOKEN=…'],
  [
    'an address',
    '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
    '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
  ],
  [
    'an address of Solana',
    'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
    'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
  ],
  ['a path', '/var/backups/2026-11-27/registry.dump', '/var/backups/2026-11-27/registry.dump'],
  ['a time', '2027-01-31T12:00:00Z', '2027-01-31T12:00:00Z'],
])('shows only the public parts of %s', (_, text, shown) => {
  expect(redactSecrets(text)).toBe(shown)
})

it.each(['a', 'a:', 'a://', '[1', '1,', '+', 'token'])(
  'processes a long text of %s quickly',
  (part) => {
    expectWithin(1_000, () => redactSecrets(part.repeat(100_000)))
  },
)

it('shows no part of a secret where a long text is cut', () => {
  const padding = 'x '.repeat(2_040)
  for (let blanks = 0; blanks < 40; blanks++)
    expect(redactSecrets(`${padding}${' '.repeat(blanks)}0x${KEY}`)).not.toContain('c0ff')
})

it('shows a text on one line, without characters that move a terminal', () => {
  const escapeCode = String.fromCharCode(27)
  expect(redactedCommandLine(['keys', 'make', `x\n2026-11-28 ${escapeCode}[2Jroot\u0000`])).toBe(
    'keys make "x 2026-11-28 [2Jroot "',
  )
})

/** The command line, built like in `src/cli.ts`. */
const program = await (async () => {
  let built = new Command()
  const parse = vi.spyOn(Command.prototype, 'parseAsync').mockImplementation(async function (
    this: Command,
  ) {
    built = this
    return this
  })
  // another test of this process may have loaded the module
  vi.resetModules()
  await import('../cli.js')
  parse.mockRestore()
  return built
})()

/** Command lines of each command, with a value in place of one option or argument. */
function* linesWith(value: string, command = program, path: string[] = []): Generator<string[]> {
  for (const { long, required, optional } of command.options)
    if (required || optional) {
      yield [...path, long!, value]
      yield [...path, `${long}=${value}`]
    }
  for (const _ of command.registeredArguments) yield [...path, value]
  for (const child of command.commands) yield* linesWith(value, child, [...path, child.name()])
}

it.each([
  'postgresql://u:hunter2@db/c',
  'https://h.example/hunter2',
  'u:hunter2@db',
  `0x${KEY}`,
  `ck_${KEY}`,
])('no option and no argument of a command is recorded with %s in it', (secret) => {
  const lines = [...linesWith(secret)]
  expect(lines.length).toBeGreaterThan(100)
  for (const words of lines) {
    const recorded = redactedCommandLine(words)
    expect(recorded).not.toMatch(/hunter2|c0ffee/)
    expect(recorded).toContain(words[0])
  }
})
