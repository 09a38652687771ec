import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { type Html, html } from './html.js'

const COOKIE = 'clusterd_ops'
const SESSION_S = 12 * 3_600

/**
 * The operator's sign-in to the pages, by the secret `OPS_TOKEN`: in a form, which gives a cookie for twelve hours, or
 * as `Authorization: Bearer`. The cookie is an HMAC over its end, so that every process with the secret takes it and
 * none stores it.
 */
export class Login {
  readonly #secret: string
  readonly #nowMs: () => number

  constructor(secret: string, nowMs: () => number = Date.now) {
    this.#secret = secret
    this.#nowMs = nowMs
  }

  isSignedIn({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
    const bearer = /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1]
    if (bearer !== undefined) return this.isSecret(bearer)
    const [, end, given] = new RegExp(`(?:^|; )${COOKIE}=(\\d{1,12})\\.([\\w-]+)`).exec(headers.cookie ?? '') ?? []
    if (end === undefined || Number(end) * 1_000 <= this.#nowMs()) return false
    return isSame(given!, this.#mac(end))
  }

  isSecret(given: string): boolean {
    return isSame(given, this.#secret)
  }

  /** Value of `Set-Cookie` for who has shown the secret. */
  cookie(): string {
    const end = String(Math.floor(this.#nowMs() / 1_000) + SESSION_S)
    return `${COOKIE}=${end}.${this.#mac(end)}; Path=/; Max-Age=${SESSION_S}; HttpOnly; SameSite=Strict`
  }

  #mac(end: string): string {
    return createHmac('sha256', this.#secret).update(`clusterd operator until ${end}`).digest('base64url')
  }
}

/** The form of the sign-in. */
export const loginForm = (token: Html, isWrong: boolean): Html =>
  html`${isWrong ? html`<p class="bad">That is not the token.</p>` : ''}<form method="post">${token}<label>OPS_TOKEN <input
type="password" name="secret" autocomplete="current-password" required autofocus></label> <button>Sign in</button></form>`

/** Compares digests: neither text's length nor its beginning shows in the time. */
function isSame(a: string, b: string): boolean {
  const [x, y] = [a, b].map((text) => createHash('sha256').update(text).digest())
  return timingSafeEqual(x!, y!)
}
