import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { pathOfName } from '../../paths.js'
import { shortText } from '../lib/format.js'
import type { ListPart } from '../lib/lists.js'
import type { ApiState } from '../lib/net.js'
import { useNetwork } from '../lib/net.js'
import type { Wallet } from '../lib/types.js'

/** Time for which the button shows that the text was copied, ms. */
const COPIED_MS = 1_500

/** Link within the pages, which keeps the network. */
export function Link({
  to,
  children,
  class: className,
  label,
}: {
  to: string
  children: ComponentChildren
  class?: string
  label?: string
}) {
  const { href } = useNetwork()
  return (
    <a href={href(to)} class={className} aria-label={label}>
      {children}
    </a>
  )
}

function CopyButton({ text, label }: { text: string; label: string }) {
  const [isCopied, setCopied] = useState(false)
  const copy = async () => {
    // the clipboard is missing on a page by plain HTTP, and a browser may refuse it
    const isDone = await navigator.clipboard?.writeText(text).then(
      () => true,
      () => false,
    )
    if (!isDone) return void window.prompt('Copy it from here:', text)
    setCopied(true)
    setTimeout(() => setCopied(false), COPIED_MS)
  }
  return (
    <button
      type="button"
      class="copy"
      aria-label={isCopied ? 'Copied' : `Copy ${label}`}
      onClick={() => void copy()}
    >
      <svg viewBox="0 0 16 16" aria-hidden="true" width="14" height="14">
        {isCopied ? <path d="M3 8.5 6.5 12 13 4.5" /> : <path d="M5.5 5.5h7v8h-7zM3.5 10.5v-8h7" />}
      </svg>
    </button>
  )
}

/**
 * A text, shortened unless `isWhole`, as a link if `to` is given. Its title has the whole text, and a button copies it.
 */
export function CopyableText({
  text,
  to,
  isWhole = false,
}: {
  text: string
  to?: string
  isWhole?: boolean
}) {
  const shown = <code title={text}>{isWhole ? text : shortText(text)}</code>
  return (
    <span class="mono">
      {to ? <Link to={to}>{shown}</Link> : shown}
      <CopyButton text={text} label={shortText(text)} />
    </span>
  )
}

export const CopyableAddress = ({
  address,
  isWhole = false,
}: {
  address: string
  isWhole?: boolean
}) => <CopyableText text={address} to={`/address/${address}`} isWhole={isWhole} />

/** An address within a sentence: shortened, a link, and without a button that copies it. */
export const InlineAddress = ({ address }: { address: string }) => (
  <Link to={`/address/${address}`}>
    <code title={address}>{shortText(address)}</code>
  </Link>
)

/** A name, as a link to its page or as text. `alice` is shown as `alice/`. */
export function NameLabel({ name, isText = false }: { name: string; isText?: boolean }) {
  const path = isText ? null : pathOfName(name)
  const [first, rest = ''] = name.split('/')
  const text = (
    <>
      {first}
      <span class="slash">/</span>
      {rest}
    </>
  )
  return <span class="name">{path ? <Link to={path}>{text}</Link> : text}</span>
}

/** The picture of a name, drawn by the service. */
export const NamePicture = ({ name, size }: { name: string; size: number }) => (
  <img
    class="picture"
    src={`/image/${encodeURIComponent(name)}.svg`}
    alt=""
    width={size}
    height={size}
  />
)

export const Badge = ({
  kind = '',
  children,
}: {
  kind?: string | undefined
  children: ComponentChildren
}) => <span class={`badge ${kind}`}>{children}</span>

export const VerifiedBadge = ({ isVerified }: { isVerified: boolean | undefined }) => (
  <Badge kind={isVerified ? 'good' : ''}>{isVerified ? 'verified' : 'unverified'}</Badge>
)

/**
 * Badges of a wallet: whether it is verified, and by which public evidence. Without evidence there is no second badge.
 */
export const WalletBadges = ({ isVerified, evidence }: Pick<Wallet, 'isVerified' | 'evidence'>) => (
  <span class="badges">
    <VerifiedBadge isVerified={isVerified} />
    {evidence !== undefined && evidence !== 'unsigned' && <Badge kind="good">{evidence}</Badge>}
  </span>
)

/** A part of a page under its heading. */
export function Card({ title, aside, children }: CardProps) {
  return (
    <section class="card" aria-label={title}>
      <div class="card-head">
        <h2>{title}</h2>
        {aside}
      </div>
      {children}
    </section>
  )
}
interface CardProps {
  title: string
  aside?: ComponentChildren
  children: ComponentChildren
}

/**
 * Button that reads more of a list. After the last part a text takes the button's place, and gets the focus, which
 * would otherwise be lost with the button.
 */
export function MoreButton({ isMore, onMore, atEnd = 'That is all.' }: MoreButtonProps) {
  const [isPressed, setPressed] = useState(false)
  const end = useRef<HTMLParagraphElement>(null)
  useEffect(() => {
    if (!isMore) end.current?.focus()
  }, [isMore])
  const go = () => {
    setPressed(true)
    onMore?.()
  }
  if (isMore && !onMore) return <p class="soft">There are more.</p>
  if (isMore)
    return (
      <p>
        <button type="button" class="plain" onClick={go}>
          Show more
        </button>
      </p>
    )
  return isPressed ? (
    <p class="soft" tabIndex={-1} ref={end}>
      {atEnd}
    </p>
  ) : null
}
interface MoreButtonProps {
  isMore: boolean
  /** Reads the next part. Undefined if only the first part is available: a text then says that there are more. */
  onMore: (() => unknown) | undefined
  /** Text at the end of the list. */
  atEnd?: string | undefined
}

/** Titles with their values. A value that is undefined, null, false or empty is left out with its title. */
export const FactList = ({
  class: className,
  facts,
}: {
  class: string
  facts: Readonly<Record<string, ComponentChildren>>
}) => (
  <dl class={className}>
    {Object.entries(facts).map(
      ([title, fact]) =>
        fact && (
          <div key={title}>
            <dt>{title}</dt>
            <dd>{fact}</dd>
          </div>
        ),
    )}
  </dl>
)

/** Names as links. */
export const NameList = ({ names }: { names: readonly { name: string }[] }) => (
  <ul class="names">
    {names.map(({ name }) => (
      <li key={name}>
        <NameLabel name={name} />
      </li>
    ))}
  </ul>
)

/** The items of a list that were read so far, with a button that reads more. For an empty list a sentence. */
export const LoadedList = <T,>({
  state,
  more,
  empty,
  lines,
  atEnd,
  children,
}: LoadedListProps<T>) => (
  <LoadedContent state={state} lines={lines}>
    {({ items, isMore }) =>
      items.length === 0 ? (
        <p class="empty">{empty}</p>
      ) : (
        <>
          {children(items)}
          <MoreButton isMore={isMore} onMore={more} atEnd={atEnd} />
        </>
      )
    }
  </LoadedContent>
)
interface LoadedListProps<T> {
  state: ApiState<ListPart<T>>
  more: MoreButtonProps['onMore']
  /** Sentence for a list without items. */
  empty: string
  lines?: number | undefined
  atEnd?: string | undefined
  children: (items: readonly T[]) => ComponentChildren
}

/**
 * Shows loaded content, with an error message below it if a later load failed. Without content: the error message, or
 * skeleton lines while it loads.
 */
export function LoadedContent<T>({ state, lines = 3, children }: LoadedContentProps<T>) {
  if (state.data !== undefined)
    return (
      <>
        {children(state.data)}
        {state.error && <p class="empty">{state.error.message}</p>}
      </>
    )
  if (state.error) return <p class="empty">{state.error.message}</p>
  return (
    <div class="skeleton" aria-hidden="true">
      {Array.from({ length: lines }, (_, i) => (
        <span key={String(i)} />
      ))}
    </div>
  )
}
interface LoadedContentProps<T> {
  state: ApiState<T>
  lines?: number | undefined
  children: (data: T) => ComponentChildren
}
