import { createHmac } from 'node:crypto'

export const WEBHOOK_KEY_BYTES = 32
const WEBHOOK_KEY_PREFIX = 'whsec_'

/** Text of a webhook's signing key for the receiver: `whsec_` and base64 (Standard Webhooks 1.0.0, "Secret"). */
export const webhookKeyText = (key: Buffer): string => WEBHOOK_KEY_PREFIX + key.toString('base64')

/**
 * Headers that identify and sign a message to a webhook: HMAC-SHA-256 over `<id>.<seconds>.<body>`, so that nobody can
 * change these values, and a receiver can refuse old messages (Standard Webhooks 1.0.0, "Signature scheme").
 * @param id of the message: the same for each attempt with the same body
 */
export function webhookSignatureHeaders(
  key: Buffer,
  id: string,
  nowMs: number,
  body: string,
): Record<string, string> {
  const seconds = Math.floor(nowMs / 1_000)
  const mac = createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64')
  return {
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': `v1,${mac}`,
  }
}
