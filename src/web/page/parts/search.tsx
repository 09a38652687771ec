import { useId, useRef, useState } from 'preact/hooks'
import { pageOfPath, pathOfText } from '../../paths.js'
import { callApi } from '../lib/api.js'
import { countText } from '../lib/format.js'
import { useNetwork, usePolled } from '../lib/net.js'
import { readNameAvailabilityAndPrice, waitUntilTypingPauses } from '../lib/offer.js'
import { NameLabel } from './basics.js'

/** A suggestion below the search box: a registered name, or with its price a name that can be registered. */
interface Suggestion {
  name: string
  /** Only for a name that is available. */
  price?: string
}

/** Number of places that a key moves down in the list of suggestions, by the key. */
const ARROW_KEY_STEPS: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 }

/** Minimum number of typed letters for which names are suggested. */
const MIN_PREFIX_LETTERS = 2

/**
 * Registered names that begin with a text, and the text itself if it can be registered.
 * @param prefix null for no suggestions
 */
function useSuggestions(prefix: string | null): readonly Suggestion[] {
  const state = usePolled<Suggestion[]>(prefix, async (asking) => {
    await waitUntilTypingPauses(asking.signal)
    const [suggestions, offer] = await Promise.all([
      callApi<Suggestion[]>(`/v1/names/search?prefix=${prefix}`, asking),
      // suggest registered names even if the price can't be read
      readNameAvailabilityAndPrice(prefix!, asking).catch(() => null),
    ])
    return offer?.isFree ? [...suggestions, { name: prefix!, price: offer.price }] : suggestions
  })
  const known = useRef<readonly Suggestion[]>([])
  if (state.data) known.current = state.data
  // keep fitting suggestions until the next answer, so that the list does not flicker at each letter
  return prefix ? known.current.filter(({ name }) => name.startsWith(prefix)) : []
}

/** The typed text as the beginning of a name; null for a text that is no name, and for too few letters. */
function namePrefixOf(text: string): string | null {
  const place = pageOfPath('/', text)
  return place.page === 'name' && place.name.length >= MIN_PREFIX_LETTERS ? place.name : null
}

/** Search box for names, addresses and transactions: a combobox with a list (ARIA 1.2). */
export function SearchBox({ isLarge = false }: { isLarge?: boolean }) {
  const { go } = useNetwork()
  const id = useId()
  const [text, setText] = useState('')
  const [isOpen, setOpen] = useState(false)
  const [active, setActive] = useState(-1)
  const options = useSuggestions(isOpen ? namePrefixOf(text) : null)
  const isShown = options.length > 0
  const close = () => {
    setOpen(false)
    setActive(-1)
  }
  const visit = (chosen: string) => {
    close()
    if (chosen.trim() !== '') go(pathOfText(chosen))
  }
  const submit = (event: Event) => {
    event.preventDefault()
    visit(options[active]?.name ?? text)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const step = ARROW_KEY_STEPS[event.key]
    if (step !== undefined) {
      event.preventDefault()
      setOpen(true)
      // the arrows also reach the search box itself: one place more than the list has options
      const places = options.length + 1
      setActive(((active + 1 + step + places) % places) - 1)
    }
    if (event.key === 'Escape') close()
  }
  const changeText = (typed: string) => {
    setText(typed)
    setOpen(true)
    setActive(-1)
  }
  return (
    <search class={isLarge ? 'search large' : 'search'}>
      <form onSubmit={submit}>
        <input
          type="text"
          inputmode="search"
          role="combobox"
          aria-label="Search for a name, an address or a transaction"
          aria-autocomplete="list"
          aria-expanded={isShown}
          aria-controls={`${id}-list`}
          aria-activedescendant={options[active] ? `${id}-${active}` : undefined}
          placeholder={isLarge ? 'Name, address or transaction' : 'Search'}
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          maxLength={128}
          value={text}
          onInput={(event) => changeText(event.currentTarget.value)}
          onKeyDown={onKeyDown}
          onBlur={close}
        />
        <button type="submit">Search</button>
      </form>
      <div
        id={`${id}-list`}
        role="listbox"
        aria-label="Names"
        class="suggestions"
        hidden={!isShown}
      >
        {options.map(({ name, price }, i) => (
          <div
            key={name}
            id={`${id}-${i}`}
            role="option"
            aria-selected={i === active}
            tabIndex={-1}
            // mousedown comes before blur, which would close the list
            onMouseDown={() => visit(name)}
          >
            <NameLabel name={name} isText />
            <span class={price ? 'good' : 'soft'}>{price ? `free, ${price}` : 'registered'}</span>
          </div>
        ))}
      </div>
      <p class="sr" role="status">
        {isShown && `${countText(options.length, 'name')} below the box`}
      </p>
    </search>
  )
}
