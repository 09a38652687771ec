import type { Command } from 'commander'
import { lazily } from '../lazily.js'
import { JSON_OPTION } from '../output.js'
import { withNetwork } from '../values.js'

const EXAMPLES = `
Examples:
  clusterd community set club                                          free for everybody
  clusterd community set club --rules club.json
  clusterd community show club --history

club.json, as GET /v1/communities/club answers it:
  { "prices": [{ "network": "8453", "token": "native", "amount": "1000000000000000", "recipient": "0x…" }],
    "ownersOnly": false, "startsAt": null,
    "requirements": [{ "kind": "token", "network": "1", "token": "0x…", "minimum": "1" }] }

Amounts are base units. A token is "native", or the address or mint of one. The rules are replaced as a whole.`

const run = lazily(() => import('./community.js'))

/** `clusterd community …`. */
export function addCommunityCommands(program: Command): void {
  const community = program
    .command('community')
    .description('rules of names below which others register names')
    .addHelpText('after', EXAMPLES)
  withNetwork(community.command('list', { isDefault: true }), 'default: both', { takesBoth: true })
    .description('all communities with their number of names')
    .option(...JSON_OPTION)
    .action(run('list'))
  withNetwork(community.command('show <name>'), 'default: mainnet')
    .description('the rules of one')
    .option('--history', 'all rules there ever were, oldest first')
    .action(run('show'))
  withNetwork(community.command('set <name>'), 'default: mainnet')
    .description(
      'make a name that somebody holds a community, or give one other rules; without any: free for everybody',
    )
    .option('--rules <file>', 'the rules as JSON')
    .action(run('set'))
}
