import type { Command } from 'commander'
import { createLazyCommandActions } from '../lazily.js'
import { JSON_OPTION } from '../output.js'
import { addNetworkOptions } from '../values.js'

const webhookAction = createLazyCommandActions(() => import('./webhooks.js'))

const WEBHOOK_HELP_TEXT = `
A message is a POST of JSON with the headers webhook-id, webhook-timestamp and webhook-signature (standardwebhooks.com).
Messages come in order, each at least once, until the answer is 2xx:
docs/use/webhooks.md says what one holds and how to check it.`

export function addWebhookCommands(program: Command): void {
  const command = program
    .command('webhooks')
    .description('URLs to which the public feed is sent')
    .addHelpText('after', WEBHOOK_HELP_TEXT)
  command
    .command('list')
    .description('all webhooks with their state')
    .option(...JSON_OPTION)
    .action(webhookAction('printWebhooks'))
  addNetworkOptions(command.command('add <url>'), 'default: mainnet')
    .description('send the feed to a URL, and show the key of its signatures this once')
    .option('--from <address>', 'only events that this wallet caused')
    .option(
      '--since <time>',
      'begin with the events from a time on (ISO 8601, or "start"); default: now',
    )
    .option(...JSON_OPTION)
    .action(webhookAction('createWebhook'))
  command
    .command('remove <id>')
    .description('send nothing to it any more')
    .action(webhookAction('deleteWebhook'))
  command
    .command('failures [id]')
    .description('deliveries that failed, newest first')
    .option(...JSON_OPTION)
    .action(webhookAction('printFailedDeliveries'))
  command
    .command('replay <id>')
    .description('go on at once with one that failed or is parked')
    .option('--since <time>', 'send again from a time on (ISO 8601, or "start")')
    .action(webhookAction('resumeWebhook'))
}
